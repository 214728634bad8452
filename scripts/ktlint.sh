#!/usr/bin/env bash
# Run ktlint with the given arguments on the Android demo's Kotlin. Maven fetches it, at the version of its pom.xml.
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/../android_demo"
version=$(sed -nE 's|.*<ktlint.version>(.*)</ktlint.version>.*|\1|p' pom.xml)
jar=../.cache/ktlint/ktlint-cli-$version-all.jar
[[ -f $jar ]] || mvn -q -B -N org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy \
  -Dartifact="com.pinterest.ktlint:ktlint-cli:$version:jar:all" -DoutputDirectory="$PWD/../.cache/ktlint"
exec java -jar "$jar" --log-level=error "$@" '**/*.kt' '**/*.kts' '!**/target/**' '!**/build/**'
