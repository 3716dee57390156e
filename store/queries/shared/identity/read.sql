SELECT store_id FROM store_identity WHERE id = 1
