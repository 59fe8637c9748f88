# The USB stick: a GUID partition table, the EFI system partition, and room for the history. Sourced.

SECTOR=512
ESP_START=2048
# Under 65525 clusters a FAT would not be FAT32: 64 MiB with clusters of one sector.
ESP_SECTORS=131072
HISTORY_START=$(( ESP_START + ESP_SECTORS ))
HISTORY_SECTORS=32768
# Behind the partitions: the copy of the table.
STICK_SECTORS=$(( HISTORY_START + HISTORY_SECTORS + 2048 ))

# Writes the image to $1, with the EFI program $2 as what a PC starts from a stick.
stick() {
    rm -f "$1"
    truncate -s $(( STICK_SECTORS * SECTOR )) "$1"
    partitions | sfdisk --quiet "$1"
    system_partition "$1.esp" "$2"
    dd if="$1.esp" of="$1" bs=1M seek=$(( ESP_START * SECTOR / 1048576 )) conv=notrunc,sparse status=none
    rm "$1.esp"
}

# All GUIDs are fixed; the history's type is our own, and how the program finds it.
partitions() {
    cat <<-END
	label: gpt
	label-id: 6C1A7F0E-9E2B-4A37-8E52-6C696E656761
	unit: sectors
	first-lba: $ESP_START
	start=$ESP_START, size=$ESP_SECTORS, type=C12A7328-F81F-11D2-BA4B-00A0C93EC93B, uuid=6C1A7F0E-9E2B-4A37-8E52-6C696E656762, name="linegauge"
	start=$HISTORY_START, size=$HISTORY_SECTORS, type=6C696E65-6761-7567-6548-4953544F5259, uuid=6C1A7F0E-9E2B-4A37-8E52-6C696E656763, name="linegauge history"
	END
}

system_partition() {
    rm -f "$1"
    truncate -s $(( ESP_SECTORS * SECTOR )) "$1"
    mkfs.vfat --invariant -F 32 -s 1 -i 4C470001 -n LINEGAUGE "$1" >/dev/null
    mmd -i "$1" ::EFI ::EFI/BOOT
    mcopy -i "$1" "$2" ::EFI/BOOT/BOOTX64.EFI
}
