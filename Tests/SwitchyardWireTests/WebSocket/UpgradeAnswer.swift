import SwitchyardServerKit
import SwitchyardTestSupport
import SwitchyardWire

/// The bytes that switch this request to a web socket: for servers that go on byte by byte.
func upgradeAnswer(to request: ServerRequest) -> [UInt8] {
    let head = WebSocketUpgrade.answer(to: request.headers)
    let fields = head.headers.map { "\($0.name): \($0.value)\r\n" }.joined()
    return Array("HTTP/1.1 \(head.status) Answer\r\n\(fields)\r\n".utf8)
}

/// The same for a server that has nothing but the text of the head.
func upgradeAnswer(to head: String) -> [UInt8] {
    var headers = HTTPHeaders()
    for line in head.split(separator: "\r\n").dropFirst() {
        let parts = line.split(separator: ":", maxSplits: 1)
        if parts.count == 2 { headers.add(String(parts[0]), String(parts[1].drop { $0 == " " })) }
    }
    let answer = WebSocketUpgrade.answer(to: headers)
    let fields = answer.headers.map { "\($0.name): \($0.value)\r\n" }.joined()
    return Array("HTTP/1.1 \(answer.status) Answer\r\n\(fields)\r\n".utf8)
}
