# The unified kernel image: one EFI program of stub, command line, initramfs and kernel. Sourced.

EFI_STUB=/usr/lib/systemd/boot/efi/linuxx64.efi.stub
EFI_PAGE=4096

# Writes the program to $1 from the files of folder $2.
unified() {
    local -a sections=()
    local at
    at=$(stub_end)
    add_section .osrel "$2/os-release"
    add_section .cmdline "$2/cmdline"
    add_section .initrd "$2/$INITRAMFS"
    add_section .linux "$2/bzImage"
    objcopy "${sections[@]}" "$EFI_STUB" "$1"
    stamp "$1"
}

# objcopy writes the time of day into the program's header, which the word at 0x3c points to, and a checksum over
# it: the commit's time goes there instead (8 octets on), and no checksum (88 octets on; nothing asks for it).
stamp() {
    local header
    header=$(od -An -t u4 -j 60 -N 4 "$1")
    put_word "$1" $(( header + 8 )) "$SOURCE_DATE_EPOCH"
    put_word "$1" $(( header + 88 )) 0
}

# Writes number $3 as 4 octets, the lowest first, at offset $2 of file $1.
put_word() {
    local hex
    hex=$(printf '%08x' "$3")
    printf "\\x${hex:6:2}\\x${hex:4:2}\\x${hex:2:2}\\x${hex:0:2}" | dd of="$1" bs=1 seek="$2" conv=notrunc status=none
}

# The first free address after the stub's own sections.
stub_end() {
    local size address end=0
    while read -r size address; do
        (( 16#$address + 16#$size > end )) && end=$(( 16#$address + 16#$size ))
    done < <(objdump -h "$EFI_STUB" | awk '$1 ~ /^[0-9]+$/ { print $3, $4 }')
    next_page "$end"
}

# Puts file $2 into section $1 at the page `at`, and moves `at` behind it.
add_section() {
    sections+=(--add-section "$1=$2" --change-section-vma "$1=$(printf '0x%x' "$at")")
    at=$(next_page $(( at + $(stat -c %s "$2") )))
}

next_page() {
    echo $(( ($1 + EFI_PAGE - 1) / EFI_PAGE * EFI_PAGE ))
}
