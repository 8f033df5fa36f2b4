import SwitchyardBytes
import Testing

@testable import SwitchyardServerKit

@Suite struct `Calls over HTTP/2` {
    private static let opening = Array("SM\r\n\r\n".utf8)
    private static let settings: [UInt8] = [0, 0, 0, 4, 0, 0, 0, 0, 0]
    private static let settingsAnswer: [UInt8] = [0, 0, 0, 4, 1, 0, 0, 0, 0]

    private func receive(_ refusal: inout HTTP2Refusal, _ bytes: [UInt8]) -> [UInt8] {
        bytes.withUnsafeBytes { refusal.receive($0) }
    }

    private func headers(_ stream: UInt8, flags: UInt8 = 4) -> [UInt8] { [0, 0, 1, 1, flags, 0, 0, 0, stream, 0x82] }

    @Test func `Each call is answered once, with the message, also if it comes byte by byte`() {
        var refusal = HTTP2Refusal(message: "100 % REST, please")
        var output: [UInt8] = []
        for byte in Self.opening + Self.settings + headers(1) + headers(3, flags: 0) + [0, 0, 0, 9, 4, 0, 0, 0, 3] {
            output += receive(&refusal, [byte])
        }
        #expect(output.starts(with: Self.settings + Self.settingsAnswer))
        let text = String(decoding: output, as: UTF8.self)
        #expect(text.ranges(of: "100 %25 REST, please").count == 2)
        #expect(text.includes("grpc-status\u{2}12"))
        #expect(receive(&refusal, headers(1, flags: 5)).isEmpty, "the end of what the client sends is no call")
        #expect(!refusal.isOver)
    }

    @Test func `Pings and contents are acknowledged, so that later calls are not held up`() {
        var refusal = HTTP2Refusal(message: "")
        _ = receive(&refusal, Self.opening)
        let ping: [UInt8] = [0, 0, 8, 6, 0, 0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8]
        #expect(receive(&refusal, ping) == [0, 0, 8, 6, 1, 0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8])
        #expect(receive(&refusal, [0, 0, 2, 0, 0, 0, 0, 0, 1, 9, 9]) == [0, 0, 4, 8, 0, 0, 0, 0, 0, 0, 0, 0, 2])
        #expect(receive(&refusal, [0, 0, 0, 99, 0, 0, 0, 0, 1]).isEmpty, "frames of an unknown kind are skipped")
    }

    @Test func `Bytes that are no such protocol end the connection`() {
        var refusal = HTTP2Refusal(message: "")
        #expect(!receive(&refusal, Array("GET / HTTP/1.1\r\n".utf8)).isEmpty)
        #expect(refusal.isOver)
        var other = HTTP2Refusal(message: "")
        _ = receive(&other, Self.opening + [255, 255, 255, 0, 0, 0, 0, 0, 1])
        #expect(other.isOver, "no frame is that long")
        #expect(receive(&other, headers(1)).isEmpty)
    }
}
