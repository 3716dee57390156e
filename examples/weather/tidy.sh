# Deletes the results of days before a day (yyyyMMdd). Names alone decide, so a copied folder keeps its age.
set -euo pipefail

out=$1
first_kept=$2
deleted=0
for folder in "$out"/[0-9][0-9][0-9][0-9][0-9][0-9][0-9][0-9]; do
  [ -d "$folder" ] || continue
  if (( $(basename "$folder") < first_kept )); then
    rm -r "$folder"
    deleted=$((deleted + 1))
  fi
done
echo "deleted $deleted days before $first_kept"
