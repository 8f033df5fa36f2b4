import SwitchyardWire

/// Categories 1 to 5: framing, pings, reserved bits and opcodes, fragmentation.
extension CatalogueCase {
    private static func echo(_ text: String) -> Reply { .echo(.text(text)) }
    private static func stars(_ count: Int) -> String { String(repeating: "*", count: count) }
    private static let sizes = [0, 125, 126, 127, 128, 65_535, 65_536]

    static let framing: [CatalogueCase] = {
        var cases: [CatalogueCase] = []
        for (index, size) in sizes.enumerated() {
            cases.append(CatalogueCase("1.1.\(index + 1)", [frame(1, stars(size))], [echo(stars(size))]))
            let bytes = [UInt8](repeating: 0xFE, count: size)
            cases.append(CatalogueCase("1.2.\(index + 1)", [frame(2, bytes)], [.echo(.binary(bytes))]))
        }
        let text = stars(65_536)
        let bytes = [UInt8](repeating: 0xFE, count: 65_536)
        cases.append(CatalogueCase("", [frame(1, text)], [echo(text)]).inPieces("1.1.8", of: 997))
        cases.append(CatalogueCase("", [frame(2, bytes)], [.echo(.binary(bytes))]).inPieces("1.2.8", of: 997))
        return cases
    }()

    static let pings: [CatalogueCase] = {
        let binary: [UInt8] = [0x00, 0xFF, 0xFE, 0xFD, 0xFC, 0xFB, 0x00, 0xFF]
        let long = [UInt8](repeating: 0xFE, count: 125)
        let ten = (0..<10).map { Array("payload-\($0)".utf8) }
        return [
            CatalogueCase("2.1", [frame(9)], [.pong([])]),
            CatalogueCase("2.2", [frame(9, "Hello, world!")], [.pong(Array("Hello, world!".utf8))]),
            CatalogueCase("2.3", [frame(9, binary)], [.pong(binary)]),
            CatalogueCase("2.4", [frame(9, long)], [.pong(long)]),
            CatalogueCase("2.5", [frame(9, long + [0xFE])], [], .failed(.longControlFrame)),
            CatalogueCase("", [frame(9, long)], [.pong(long)]).inOctets("2.6"),
            CatalogueCase("2.7", [frame(10)], []),
            CatalogueCase("2.8", [frame(10, "unsolicited")], []),
            CatalogueCase("2.9", [frame(10, "unsolicited"), frame(9, "ping")], [.pong(Array("ping".utf8))]),
            CatalogueCase("2.10", ten.map { frame(9, $0) }, ten.map { .pong($0) }),
            CatalogueCase("", ten.map { frame(9, $0) }, ten.map { .pong($0) }).inOctets("2.11"),
        ]
    }()

    static let reserved: [CatalogueCase] = {
        let hello = "Hello, world!"
        let failed = Outcome.failed(.reservedBits)
        let ping = frame(9)
        var cases = [
            CatalogueCase("3.1", [frame(1, hello, reserved: 1)], [], failed),
            CatalogueCase("3.2", [frame(1, hello), frame(1, hello, reserved: 2), ping], [echo(hello)], failed)
                .inPieces("3.2"),
            CatalogueCase("3.3", [frame(1, hello), frame(1, hello, reserved: 3), ping], [echo(hello)], failed),
            CatalogueCase("", [frame(1, hello), frame(1, hello, reserved: 4), ping], [echo(hello)], failed)
                .inOctets("3.4"),
            CatalogueCase("3.5", [frame(2, [1, 2, 3, 4, 5, 6, 7, 8], reserved: 5)], [], failed),
            CatalogueCase("3.6", [frame(9, hello, reserved: 6)], [], failed),
            CatalogueCase("3.7", [frame(8, [], reserved: 7)], [], failed),
        ]
        for (group, first) in [("4.1", UInt8(3)), ("4.2", UInt8(11))] {
            for index in 0..<5 {
                let opcode = first + UInt8(index)
                let bad = index == 0 || index == 2 ? frame(opcode) : frame(opcode, hello)
                let writes = index < 2 ? [bad] : [frame(1, hello), bad, ping]
                let replies = index < 2 ? [] : [echo(hello)]
                let number = "\(group).\(index + 1)"
                let made = CatalogueCase(number, writes, replies, .failed(.reservedOpcode))
                cases.append(index == 4 ? made.inOctets(number) : made)
            }
        }
        return cases
    }()

    static let fragments: [CatalogueCase] = {
        let (one, two) = ("fragment1", "fragment2")
        let halves = [frame(1, one, final: false), frame(0, two)]
        let pinged = [frame(1, one, final: false), frame(9, "ping me"), frame(0, two)]
        let whole = [echo(one + two)]
        let pingedReplies: [Reply] = [.pong(Array("ping me".utf8)), echo(one + two)]
        let nothing = Outcome.failed(.nothingToContinue)
        let strayFinal = [frame(0, "stray"), frame(1, one)]
        let strayOpen = [frame(0, "stray", final: false), frame(1, one)]
        let five = (1...5).map { "fragment\($0)" }
        let pings = ["pongme 1!", "pongme 2!"]
        let long = [
            frame(1, five[0], final: false), frame(0, five[1], final: false), frame(9, pings[0]),
            frame(0, five[2], final: false), frame(0, five[3], final: false), frame(9, pings[1]), frame(0, five[4]),
        ]
        let longReplies: [Reply] = pings.map { .pong(Array($0.utf8)) } + [echo(five.joined())]
        func repeated(final isFinal: Bool) -> [[UInt8]] {
            Array(repeatElement([frame(0, one, final: isFinal)] + halves, count: 2).joined())
        }
        return [
            CatalogueCase("5.1", [frame(9, one, final: false), frame(0, two)], [], .failed(.fragmentedControlFrame)),
            CatalogueCase("5.2", [frame(10, one, final: false), frame(0, two)], [], .failed(.fragmentedControlFrame)),
            CatalogueCase("5.3", halves, whole).inPieces("5.3"),
            CatalogueCase("5.4", halves, whole),
            CatalogueCase("5.5", halves, whole).inOctets("5.5"),
            CatalogueCase("5.6", pinged, pingedReplies).inPieces("5.6"),
            CatalogueCase("5.7", pinged, pingedReplies),
            CatalogueCase("5.8", pinged, pingedReplies).inOctets("5.8"),
            CatalogueCase("5.9", strayFinal, [], nothing).inPieces("5.9"),
            CatalogueCase("5.10", strayFinal, [], nothing),
            CatalogueCase("5.11", strayFinal, [], nothing).inOctets("5.11"),
            CatalogueCase("5.12", strayOpen, [], nothing).inPieces("5.12"),
            CatalogueCase("5.13", strayOpen, [], nothing),
            CatalogueCase("5.14", strayOpen, [], nothing).inOctets("5.14"),
            CatalogueCase("5.15", halves + [frame(0, "3", final: false), frame(1, "4")], whole, nothing).inPieces(
                "5.15"),
            CatalogueCase("5.16", repeated(final: false), [], nothing),
            CatalogueCase("5.17", repeated(final: true), [], nothing),
            CatalogueCase("5.18", [frame(1, one, final: false), frame(1, two)], [], .failed(.interruptedMessage)),
            CatalogueCase("5.19", long, longReplies).inPieces("5.19"),
            CatalogueCase("5.20", long, longReplies),
        ]
    }()
}
