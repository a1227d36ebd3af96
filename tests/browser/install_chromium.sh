#!/bin/sh
# Chromium and a Chinese font for the browser tests, from the system's packages.
# As root on Debian they are installed; elsewhere it is said what to install, and those tests skip.
have_browser() { command -v chromium >/dev/null || command -v chromium-browser >/dev/null || command -v google-chrome >/dev/null; }
have_font() { command -v fc-list >/dev/null && fc-list :lang=zh 2>/dev/null | grep -q .; }

have_browser && have_font && exit 0
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
    echo "Installing Chromium and a Chinese font for the browser tests ..."
    export DEBIAN_FRONTEND=noninteractive
    apt-get update -qq >/dev/null && apt-get install -y -qq chromium fonts-wqy-microhei fontconfig >/dev/null 2>&1
    have_browser && have_font && exit 0
fi
echo "note: browser tests will be skipped: install Chromium and a Chinese font first, for example"
echo "      sudo apt-get install chromium fonts-wqy-microhei"
