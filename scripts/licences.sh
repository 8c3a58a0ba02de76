#!/bin/sh
# Collects the licences of what the wheel's tool has inside, in the system that it was built in: licences.sh FOLDER
set -eu

mkdir -p "$1"
for package in cjson zlib1g-dev libzstd-dev libsqlite3-dev libdw-dev libelf-dev liblzma-dev libbz2-dev; do
	cp -L "/usr/share/doc/$package/copyright" "$1/$package"
done
