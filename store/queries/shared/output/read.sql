SELECT bytes FROM output WHERE fence = $1
