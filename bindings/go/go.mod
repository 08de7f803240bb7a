module perfile

go 1.19
