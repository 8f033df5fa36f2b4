let driver: any SyncDriver = given()
