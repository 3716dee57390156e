SELECT bytes FROM blob WHERE digest = $1
