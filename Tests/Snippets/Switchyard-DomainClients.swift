// What the page takes for granted.
let bobID = "bob"
/// Bob's device.
let other: Infrastructure = given()
func devices(of responder: String) async throws -> [MessagingToken] { [] }
