#!/usr/bin/env bash
# Copies a build folder to a target folder: prepared beside it, checksummed, then put in its place.
set -euo pipefail
export LC_ALL=C

manifest=MANIFEST.sha256
staging=
backup=
target=

usage() {
	cat <<'END'
Usage: deploy.sh SOURCE TARGET [--clean]

Copies the folder SOURCE to the folder TARGET and writes TARGET/MANIFEST.sha256.
  --clean   delete files that are only in TARGET (which must have been deployed before)
Exit codes: 0 deployed, 1 failed (the old state is kept), 2 wrong usage or refused target.
END
}

refuse() {
	echo "Refused: $1" >&2
	exit 2
}

fail() {
	echo "Not deployed: $1" >&2
	exit 1
}

# Whatever ends the script, the target is the old state or the new one, and nothing is left beside it.
clean_up() {
	if [ -n "$backup" ] && [ -d "$backup" ]; then
		if [ -e "$target" ]; then rm -rf -- "$backup"; else mv -- "$backup" "$target"; fi
	fi
	if [ -n "$staging" ] && [ -d "$staging" ]; then rm -rf -- "$staging"; fi
}
trap clean_up EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

# The physical absolute path of a folder that may not exist yet.
absolute() {
	local path=$1 rest=
	while [ ! -d "$path" ]; do
		case $path in
		*/*) ;;
		*) path=./$path ;;
		esac
		local name=${path##*/}
		path=${path%/*}
		[ -n "$path" ] || path=/
		case $name in
		'' | .) continue ;;
		..) return 1 ;;
		esac
		rest=/$name$rest
		# A file, or a link that leads nowhere, where a folder is needed.
		if [ ! -d "$path" ] && { [ -e "$path" ] || [ -L "$path" ]; }; then return 1; fi
	done
	path=$(cd -P -- "$path" && pwd -P) || return 1
	[ "$path" = / ] && path=
	printf '%s\n' "${path}${rest:-}"
}

# Is $2 the folder $1 or inside it?
is_within() {
	case $2/ in
	"${1%/}"/*) return 0 ;;
	*) return 1 ;;
	esac
}

check_target() {
	local home
	case $target in
	'' | /*/*) ;;
	*) refuse "$target is a top-level folder." ;;
	esac
	[ -n "$target" ] || refuse 'the target is / itself.'
	home=$(cd -P -- "${HOME:-/}" 2>/dev/null && pwd -P) || home=/
	if is_within "$target" "$home"; then refuse "$target is the home folder, or a folder around it."; fi
	if is_within "$target" "$(pwd -P)"; then refuse "$target is the working directory, or a folder around it."; fi
	if [ "$source" = "$target" ]; then refuse "the source and the target are the same folder."; fi
	if is_within "$source" "$target"; then refuse "the target $target is inside the source."; fi
	if is_within "$target" "$source"; then refuse "the source $source is inside the target."; fi
}

# Every entry of the source must be a folder, a file, or a link to a file inside the source.
check_source() {
	local link found
	[ -n "$(find "$source" ! -type d -print | head -n 1)" ] || fail "$source has no files."
	found=$(find "$source" ! -type f ! -type d ! -type l -print | head -n 1)
	[ -z "$found" ] || fail "$found isn't a file, folder or link."
	found=$(find "$source" \( -name '*
*' -o -name '*\\*' \) -print | head -n 1)
	[ -z "$found" ] || fail 'a file name contains a line break or a backslash.'
	while IFS= read -r link; do
		[ -n "$link" ] || continue
		check_link "$link"
	done <<END
$(find "$source" -type l -print)
END
}

check_link() {
	local link=$1 leads folder
	leads=$(readlink -- "$link")
	case $leads in
	/*) fail "the link $link points to an absolute path ($leads)." ;;
	esac
	[ -e "$link" ] || fail "the link $link is broken ($leads)."
	[ -f "$link" ] || fail "the link $link doesn't point to a file ($leads)."
	folder=$(dirname -- "$(dirname -- "$link")/$leads")
	folder=$(cd -P -- "$folder" && pwd -P)
	is_within "$source" "$folder" || fail "the link $link points outside the source ($leads)."
}

# Names are sorted, so that the same build gives the same manifest.
write_manifest() {
	local lines
	cd -- "$1" || return 1
	rm -f -- "$manifest"
	lines=$(find . \( -type f -o -type l \) -print | sort | tr '\n' '\0' \
		| xargs -0 sh -c 'if command -v sha256sum >/dev/null 2>&1; then sha256sum "$@"; else shasum -a 256 "$@"; fi' sh) || return 1
	printf '%s\n' "$lines" | sed 's|^\([0-9a-f]*\) [ *]\./|\1  |' >"$manifest"
}

clean=no
words=()
only_words=no
for argument in "$@"; do
	if [ $only_words = yes ]; then
		words+=("$argument")
		continue
	fi
	case $argument in
	--help | -h)
		usage
		exit 0
		;;
	--clean) clean=yes ;;
	--) only_words=yes ;;
	-*)
		echo "Unknown option $argument." >&2
		usage >&2
		exit 2
		;;
	*) words+=("$argument") ;;
	esac
done
if [ ${#words[@]} -ne 2 ] || [ -z "${words[0]}" ] || [ -z "${words[1]}" ]; then
	usage >&2
	exit 2
fi

source=${words[0]}
case $source in -*) source=./$source ;; esac
[ -e "$source" ] || fail "the folder $source doesn't exist."
[ -d "$source" ] || fail "$source is not a folder."
source=$(cd -P -- "$source" && pwd -P)
[ "$source" != / ] || refuse 'the source is / itself.'

given=${words[1]}
case $given in -*) given=./$given ;; esac
while [ "$given" != / ] && [ "${given%/}" != "$given" ]; do given=${given%/}; done
if [ -L "$given" ]; then refuse "$given is a symbolic link; name the folder itself."; fi
if [ -e "$given" ] && [ ! -d "$given" ]; then refuse "$given is a file."; fi
target=$(absolute "$given") || refuse "$given isn't a folder."

check_target
check_source
if [ $clean = yes ] && [ -d "$target" ] && [ ! -f "$target/$manifest" ] && [ -n "$(ls -A -- "$target")" ]; then
	refuse "--clean would delete files in $target that this script didn't deploy (there's no $manifest)."
fi

parent=$(dirname -- "$target")
mkdir -p -- "$parent"
staging=$(mktemp -d "$parent/.deploy-XXXXXX")
chmod 755 "$staging"
if [ $clean = no ] && [ -d "$target" ]; then cp -RPp -- "$target/." "$staging/"; fi
# A file replaced by a folder of the same name, or the reverse, makes cp fail: then nothing has been changed yet.
cp -RPp -- "$source/." "$staging/" || fail "the files couldn't be copied."
(write_manifest "$staging") || fail "the checksums couldn't be written."
count=$(wc -l <"$staging/$manifest" | tr -d ' ')

if [ -d "$target" ]; then
	# `backup` is set before the move, so that an interruption between the two moves is undone.
	backup=$parent/.deploy-old-$$
	mv -- "$target" "$backup"
fi
mv -- "$staging" "$target"
staging=
echo "Deployed $count files to $given."
echo "Checksums: $given/$manifest"
