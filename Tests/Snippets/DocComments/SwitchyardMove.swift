let old: Infrastructure = given(), new: Infrastructure = given()
let acme: any InfrastructureModule = given(), globex: any InfrastructureModule = given()
