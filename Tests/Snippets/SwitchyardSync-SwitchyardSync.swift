let server = ModelServer()
let receipt: WriteReceipt = given()
let data = Data()
// swift-format-ignore: AlwaysUseLowerCamelCase
func AcmeDriver(_ server: ModelServer) -> ModelDriver { given() }
func mended(_ write: RefusedWrite) -> WriteBatch? { nil }
