#!/bin/sh
# Puts Chromium and its driver from Debian's or Ubuntu's packages on the machine, where this may be done;
# without them the tests beside this file are skipped.
set -eu
command -v chromium >/dev/null && command -v chromedriver >/dev/null && exit 0
if ! command -v apt-get >/dev/null || [ "$(id -u)" -ne 0 ]; then
    echo "no Chromium here: needs apt-get and root; the browser tests will be skipped" >&2
    exit 0
fi
export DEBIAN_FRONTEND=noninteractive
if ! { apt-get update -qq && apt-get install -y -qq --no-install-recommends chromium chromium-driver; } >/dev/null
then
    echo "no Chromium here: apt-get could not install it; the browser tests will be skipped" >&2
fi
