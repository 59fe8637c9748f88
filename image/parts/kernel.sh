# The kernel: built once for each set of inputs, kept outside the tree. Sourced.

KERNEL_PACKAGE=linux-source-6.12
KERNEL_ARCHIVE=/usr/src/linux-source-6.12.tar.xz
KERNEL_CONFIG=$IMAGE/kernel.config

# What decides the octets of the kernel; one line each.
kernel_inputs() {
    sha256sum <"$KERNEL_CONFIG"
    sha256sum <"$IMAGE/parts/kernel.sh"
    dpkg-query -W -f '${Package} ${Version}\n' "$KERNEL_PACKAGE"
    gcc --version | head -n 1
    ld --version | head -n 1
}

# The folder with bzImage, config, System.map and gen_init_cpio.
kernel_folder() {
    local key
    key=$(kernel_inputs | sha256sum)
    echo "${XDG_CACHE_HOME:-$HOME/.cache}/linegauge/${key%% *}"
}

# Makes the kernel if it is not there yet.
kernel() {
    local folder work
    folder=$(kernel_folder)
    [[ ! -f $folder/bzImage ]] || return 0
    work=$folder.building
    echo "building the kernel, once, into $folder (some minutes; its output is in $work.log)"
    rm -rf "$work"
    mkdir -p "$work/out"
    kernel_build "$work" >"$work.log" 2>&1 || kernel_failed "$work"
    mv "$work/out" "$folder"
    rm -rf "$work" "$work.log"
}

kernel_failed() {
    tail -n 20 "$1.log" >&2
    die 3 "the kernel was not built; all of its output is in $1.log"
}

# One chain: within a condition, as here, bash does not end at the first command that fails.
kernel_build() {
    tar -C "$1" --strip-components=1 -xf "$KERNEL_ARCHIVE" &&
        kernel_make "$1" KCONFIG_ALLCONFIG="$KERNEL_CONFIG" allnoconfig &&
        kernel_config_holds "$1/.config" &&
        kernel_make "$1" bzImage &&
        gcc -O2 -o "$1/out/gen_init_cpio" "$1/usr/gen_init_cpio.c" &&
        cp "$1/arch/x86/boot/bzImage" "$1/System.map" "$1/out" &&
        cp "$1/.config" "$1/out/config"
}

# Nothing of when, where and by whom goes into the kernel.
kernel_make() {
    local tree=$1
    shift
    make -s -C "$tree" -j "$(nproc)" ARCH=x86_64 \
        KBUILD_BUILD_TIMESTAMP='Thu Jan  1 00:00:00 UTC 1970' KBUILD_BUILD_VERSION=1 \
        KBUILD_BUILD_USER=linegauge KBUILD_BUILD_HOST=box "$@"
}

# Kconfig drops what it cannot have without a word: each line asked for must be in the result.
kernel_config_holds() {
    local line
    while read -r line; do
        kernel_line_holds "$line" "$1" || { echo "kernel.config: $line does not hold in this kernel"; return 1; }
    done < <(grep '^CONFIG_' "$KERNEL_CONFIG")
}

kernel_line_holds() {
    case $1 in
    *=n) ! grep -q "^${1%=n}=" "$2" ;;
    *) grep -qxF "$1" "$2" ;;
    esac
}
