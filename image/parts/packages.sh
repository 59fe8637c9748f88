# Debian packages that a script needs. Sourced.

# Says that something is wrong with the request (2) or the host (3), and ends.
die() {
    echo "$(basename "$0"): $2" >&2
    exit "$1"
}

missing_packages() {
    local package
    for package in "$@"; do
        [[ $(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null) == installed ]] || echo "$package"
    done
}

# Installs what is missing of the packages named; who may not is told the command.
need_packages() {
    local missing
    mapfile -t missing < <(missing_packages "$@")
    [[ ${#missing[@]} -gt 0 ]] || return 0
    [[ $EUID -eq 0 ]] || die 3 "packages are missing; run: sudo apt-get install --no-install-recommends ${missing[*]}"
    apt-get update -qq
    DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends "${missing[@]}" >/dev/null
}
