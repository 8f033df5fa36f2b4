let old: Infrastructure = given(), new: Infrastructure = given()
