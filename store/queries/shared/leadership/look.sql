SELECT epoch, holder, address, renew_seq FROM leadership WHERE id = 1
