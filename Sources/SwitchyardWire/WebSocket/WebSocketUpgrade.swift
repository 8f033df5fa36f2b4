import SwitchyardBytes

/// The upgrade rules for both sides, and the server's answer.
package enum WebSocketUpgrade {
    /// The value with which a server proves that it has read the key.
    package static func accept(_ key: String) -> String {
        Base64.encode(SHA1.digest(of: Array((key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11").utf8)))
    }

    /// The head of a server's answer, whether it switches or refuses.
    ///
    /// - Parameters:
    ///   - request: The fields of a GET request.
    ///   - subprotocol: Included in the answer if the client has offered it.
    package static func answer(
        to request: HTTPHeaders, subprotocol: String? = nil, headers: HTTPHeaders = [:]
    ) -> HTTPResponseHead {
        guard tokens("Upgrade", in: request).contains("websocket"),
            tokens("Connection", in: request).contains("upgrade"),
            let key = request["Sec-WebSocket-Key"], Base64.decode(key)?.count == 16
        else { return HTTPResponseHead(status: 400) }
        guard request["Sec-WebSocket-Version"] == "13" else {
            return HTTPResponseHead(status: 426, headers: ["Sec-WebSocket-Version": "13", "Upgrade": "websocket"])
        }
        var answer = HTTPHeaders()
        answer.add("Upgrade", "websocket")
        answer.add("Connection", "Upgrade")
        answer.add("Sec-WebSocket-Accept", accept(key))
        if let subprotocol, offers(in: request).contains(subprotocol) {
            answer.add("Sec-WebSocket-Protocol", subprotocol)
        }
        for field in headers { answer.add(field.name, field.value) }
        return HTTPResponseHead(status: 101, headers: answer)
    }

    /// The subprotocols that a client offers, in its order.
    package static func offers(in request: HTTPHeaders) -> [String] {
        list("Sec-WebSocket-Protocol", in: request)
    }

    /// The members of a list field, in lower case.
    static func tokens(_ name: String, in headers: HTTPHeaders) -> [String] {
        list(name, in: headers).map { $0.lowercased() }
    }

    private static func list(_ name: String, in headers: HTTPHeaders) -> [String] {
        headers.values(for: name).flatMap { value in
            value.split(separator: ",").map { String($0.filter { $0 != " " && $0 != "\t" }) }
        }.filter { !$0.isEmpty }
    }

    static func isOwn(_ name: String) -> Bool {
        let name = name.lowercased()
        return name == "upgrade" || name.hasPrefix("sec-websocket-")
    }

    static func isToken(_ text: String) -> Bool {
        !text.isEmpty
            && text.utf8.allSatisfy { byte in
                byte > 0x20 && byte < 0x7F && !"()<>@,;:\\\"/[]?={}".utf8.contains(byte)
            }
    }
}
