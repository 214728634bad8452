# Sourced by what fetches Debian's packages, without root and without touching the system's own: an apt that knows of no
# system, whose lists, packages and settings are in a folder of its own. Whoever sources it has `refuse MESSAGE`, which
# ends the script.
#
# Versions cannot be pinned: Debian's mirrors keep a suite's current ones only. apt holds them against the suite's
# signature.
debian_keys=/usr/share/keyrings/debian-archive-keyring.gpg

# What it takes; the first argument begins the message.
require_debian() {
  local tool
  for tool in apt-get dpkg-deb; do
    command -v "$tool" >/dev/null || refuse "$1needs $tool, which comes with Debian, Ubuntu and their like."
  done
  [[ -r $debian_keys ]] || refuse "$1$debian_keys is not there; install it: apt-get install debian-archive-keyring"
}

# fetch_debian WHO STATE SUITE ARCHITECTURE PACKAGE...: packages into STATE/packages.
fetch_debian() {
  local who=$1 state=$2 suite=$3 architecture=$4
  shift 4
  mkdir -p "$state"/{lists/partial,archives/partial,packages}
  touch "$state/status"
  echo "deb [signed-by=$debian_keys] http://deb.debian.org/debian $suite main" >"$state/sources.list"
  local apt=(apt-get -qq -o "Dir::State=$state" -o "Dir::State::status=$state/status" -o "Dir::Cache=$state"
    -o "Dir::Etc::sourcelist=$state/sources.list" -o Dir::Etc::sourceparts=/dev/null -o Dir::Etc::preferences=/dev/null
    -o Dir::Etc::preferencesparts=/dev/null -o "APT::Architecture=$architecture"
    -o "APT::Architectures=$architecture" -o Acquire::Languages=none
    -o Acquire::IndexTargets::deb::DEP-11::DefaultEnabled=false -o "APT::Sandbox::User=$(id -un)")
  # Without --error-on=any apt takes a mirror that cannot be reached for one with nothing new.
  { "${apt[@]}" update --error-on=any && (cd "$state/packages" && "${apt[@]}" download "$@"); } >&2 ||
    refuse "${who}apt could not fetch packages of Debian's $suite; see above, and check the network."
}
