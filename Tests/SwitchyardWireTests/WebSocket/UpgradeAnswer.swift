import SwitchyardEmulator
import SwitchyardWire

/// The bytes that switch this request to a web socket: for servers that go on byte by byte.
func upgradeAnswer(to request: ServerRequest) -> [UInt8] {
    let head = WebSocketUpgrade.answer(to: request.headers)
    let fields = head.headers.map { "\($0.name): \($0.value)\r\n" }.joined()
    return Array("HTTP/1.1 \(head.status) Answer\r\n\(fields)\r\n".utf8)
}
