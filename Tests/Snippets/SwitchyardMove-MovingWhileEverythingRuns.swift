let old: Infrastructure = given()
let new: Infrastructure = given()
