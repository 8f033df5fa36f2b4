let server = ModelServer()
let receipt: WriteReceipt = { fatalError() }()
let data = Data()
// swift-format-ignore: AlwaysUseLowerCamelCase
func AcmeDriver(_ server: ModelServer) -> ModelDriver { { fatalError() }() }
func mended(_ write: RefusedWrite) -> WriteBatch? { nil }
