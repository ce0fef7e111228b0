#!/bin/sh
# Builds the image with the first container engine that works here: build.sh [NAME [OPTION...]]
set -eu
cd "$(dirname "$0")/.."
name=${1:-model-gateway}
[ $# -eq 0 ] || shift

works() {
    command -v "$1" >/dev/null 2>&1 && "$1" info >/dev/null 2>&1
}

# The older of the two image formats, because the other one has no health checks.
if works docker; then
    exec docker build --file Containerfile --tag "$name" "$@" .
elif works podman; then
    exec podman build --format docker --file Containerfile --tag "$name" "$@" .
elif works buildah; then
    exec buildah build --format docker --file Containerfile --tag "$name" "$@" .
fi
echo "An image is built with docker, podman or buildah, and none of them works here." >&2
echo "Install one, or start the one that is installed; without an image, \`make run\` serves." >&2
exit 1
