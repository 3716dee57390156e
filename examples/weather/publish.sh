# Puts the page together and points `out/latest` at it. The master fills in the folder and the day
# before this runs; what it does not know, like the shell's own variables, it leaves alone.
set -euo pipefail

out="${hera.dir}/out"
day=${yesterday}
draft="$out/$day/.index.html.$$"
trap 'rm -f "$draft"' EXIT # nothing is left of a page that could not be finished

{
  cat <<'HEAD'
<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>The month's weather</title>
<style>
  body { font: 15px/1.5 system-ui, "Helvetica Neue", Arial, sans-serif; color: #1f2933;
         max-width: 1080px; margin: 2rem auto; padding: 0 1rem; }
  svg { width: 100%; height: auto; }
  h2 { margin: 2rem 0 .25rem; font-size: 1.15rem; }
  p, ul { margin: .25rem 0 .75rem; }
  table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; font-size: 13.5px; }
  th, td { padding: .3rem .6rem; text-align: right; border-bottom: 1px solid #e4e7eb; }
  th { font-weight: 600; }
  th:first-child { text-align: left; white-space: nowrap; }
  thead th { vertical-align: bottom; border-bottom: 2px solid #9aa5b1; }
  footer { margin-top: 2rem; color: #616e7c; font-size: 13px; }
</style>
</head>
<body>
HEAD
  cat "$out/$day/month.svg"
  echo '<h2>Since the day before</h2>'
  echo '<ul>'
  sed 's|.*|<li>&</li>|' "$out/$day/change.txt"
  echo '</ul>'
  cat "$out/$day/table.html"
  echo "<footer>$HERA_JOB, version $HERA_VERSION. Measurements: NOAA, public domain.</footer>"
  echo '</body>'
  echo '</html>'
} > "$draft"
mv "$draft" "$out/$day/index.html"

# A rerun of an older night must not take the page back.
shown=$(readlink "$out/latest" || echo 0)
if (( day >= shown )); then
  ln -s "$day" "$out/.latest.$$"
  mv -T "$out/.latest.$$" "$out/latest"
fi
echo "published $out/$day/index.html"
