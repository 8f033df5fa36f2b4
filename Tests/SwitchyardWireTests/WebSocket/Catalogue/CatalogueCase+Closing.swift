import SwitchyardWire

/// Category 7: the closing handshake.
extension CatalogueCase {
    static let closing: [CatalogueCase] = {
        let normal = closeFrame(1000)
        let longest = [UInt8](repeating: UInt8(ascii: "*"), count: 123)
        let big = String(repeating: "BAsd7&jh23", count: 26_215)
        let badReason: [UInt8] = [0xCE, 0xBA, 0xED, 0xA0, 0x80, 0x65]
        var cases = [
            CatalogueCase("7.1.1", [frame(1, "Hello World!")], [.echo(.text("Hello World!"))]),
            CatalogueCase("7.1.2", [normal, normal], [], .closed(.normal)),
            CatalogueCase("7.1.3", [normal, frame(9, "late")], [], .closed(.normal)),
            CatalogueCase("7.1.4", [normal, frame(1, "late")], [], .closed(.normal)),
            CatalogueCase("7.1.5", [frame(1, "1", final: false), normal, frame(0, "2")], [], .closed(.normal)),
            // Whether the echo leaves before the closing is up to the client.
            CatalogueCase(
                "7.1.6", [frame(1, big), normal, frame(9)], [.echo(.text(big))], .closed(.normal)),
            CatalogueCase("7.3.1", [frame(8)], [], .closed(.noCode)),
            CatalogueCase("7.3.2", [frame(8, [0x61])], [], .failed(.invalidClosePayload)),
            CatalogueCase("7.3.3", [normal], [], .closed(.normal)),
            CatalogueCase(
                "7.3.4", [closeFrame(1000, Array("Hello World!".utf8))], [],
                .closed(WebSocketClose(code: 1000, reason: "Hello World!"))),
            CatalogueCase(
                "7.3.5", [closeFrame(1000, longest)], [],
                .closed(WebSocketClose(code: 1000, reason: String(decoding: longest, as: UTF8.self)))),
            CatalogueCase("7.3.6", [closeFrame(1000, longest + [0x2A])], [], .failed(.longControlFrame)),
            CatalogueCase("7.5.1", [closeFrame(1000, badReason)], [], .failed(.invalidCloseReason)),
        ]
        let good: [UInt16] = [1000, 1001, 1002, 1003, 1007, 1008, 1009, 1010, 1011, 3000, 3999, 4000, 4999]
        for (index, code) in good.enumerated() {
            cases.append(
                CatalogueCase("7.7.\(index + 1)", [closeFrame(code)], [], .closed(WebSocketClose(code: code))))
        }
        let bad: [UInt16] = [0, 999, 1004, 1005, 1006, 1016, 1100, 2000, 2999]
        for (index, code) in bad.enumerated() {
            cases.append(CatalogueCase("7.9.\(index + 1)", [closeFrame(code)], [], .failed(.invalidCloseCode)))
        }
        for (index, code) in [UInt16(5000), 65_535].enumerated() {
            cases.append(CatalogueCase("7.13.\(index + 1)", [closeFrame(code)], [], .failed(.invalidCloseCode)))
        }
        return cases
    }()
}
