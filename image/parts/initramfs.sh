# The initramfs: one program and a console. Sourced.

# Writes the archive to $1: $2 as /init, and the files under $3, if given, in /lib/firmware.
initramfs() {
    initramfs_list "$2" "$3" >"$1.list"
    "$(kernel_folder)/gen_init_cpio" -t "$SOURCE_DATE_EPOCH" "$1.list" | zstd -19 --quiet --force -o "$1"
    rm "$1.list"
}

# The archive's list; gen_init_cpio(1) of the kernel reads it. Everything belongs to root.
initramfs_list() {
    local folder
    for folder in /dev /proc /sys /run; do
        echo "dir $folder 0755 0 0"
    done
    # Without the first the program would start with its first three descriptors closed; with no console driver it
    # does all the same, and Rust's runtime then asks for the second.
    echo "nod /dev/console 0600 0 0 c 5 1"
    echo "nod /dev/null 0666 0 0 c 1 3"
    echo "file /init $1 0755 0 0"
    [[ -z $2 ]] || firmware_list "$2"
}

firmware_list() {
    local path
    echo "dir /lib 0755 0 0"
    find "$1" -type d -printf '/lib/firmware/%P\n' | LC_ALL=C sort | while read -r path; do
        echo "dir ${path%/} 0755 0 0"
    done
    find "$1" -type f -printf '%P\n' | LC_ALL=C sort | while read -r path; do
        echo "file /lib/firmware/$path $1/$path 0644 0 0"
    done
}
