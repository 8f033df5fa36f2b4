import SwitchyardWire

/// Categories 9 and 10: sizes, and fragments of the client's own.
extension CatalogueCase {
    private static func payload(_ size: Int) -> [UInt8] { [UInt8](repeating: UInt8(ascii: "*"), count: size) }

    private static func message(_ opcode: UInt8, _ bytes: [UInt8]) -> WebSocketMessage {
        opcode == 1 ? .text(String(decoding: bytes, as: UTF8.self)) : .binary(bytes)
    }

    static let limits: [CatalogueCase] = {
        let kilo = 1024
        let mega = 1024 * kilo
        var cases: [CatalogueCase] = []
        for opcode: UInt8 in [1, 2] {
            let groups = (0..<4).map { 2 * $0 + Int(opcode) }
            for (index, size) in [64 * kilo, 256 * kilo, mega, 4 * mega, 8 * mega, 16 * mega].enumerated() {
                let bytes = payload(size)
                cases.append(
                    CatalogueCase(
                        "9.\(groups[0]).\(index + 1)", [frame(opcode, bytes)], [.echo(message(opcode, bytes))]))
            }
            let four = payload(4 * mega)
            let pieces = [64, 256, kilo, 4 * kilo, 16 * kilo, 64 * kilo, 256 * kilo, mega, 4 * mega]
            for (index, piece) in pieces.enumerated() {
                let starts = Array(stride(from: 0, to: four.count, by: piece))
                let writes = starts.map { start in
                    frame(
                        start == 0 ? opcode : 0, Array(four[start..<(start + piece)]),
                        final: start + piece == four.count)
                }
                cases.append(
                    CatalogueCase("", writes, [.echo(message(opcode, four))])
                        .inPieces("9.\(groups[1]).\(index + 1)", of: 256 * kilo))
            }
            let one = payload(mega)
            for (index, piece) in [64, 128, 256, 512, 1024, 2048].enumerated() {
                cases.append(
                    CatalogueCase("", [frame(opcode, one)], [.echo(message(opcode, one))])
                        .inPieces("9.\(groups[2]).\(index + 1)", of: piece))
            }
            for (index, size) in [0, 16, 64, 256, 1024, 4096].enumerated() {
                let bytes = payload(size)
                cases.append(
                    CatalogueCase(
                        "9.\(groups[3]).\(index + 1)", (0..<1000).map { _ in frame(opcode, bytes) },
                        (0..<1000).map { _ in .echo(message(opcode, bytes)) }))
            }
        }
        var fragmenting = CatalogueCase("10.1.1", [frame(1, payload(65_536))], [.echo(message(1, payload(65_536)))])
        fragmenting.fragmentSize = 1300
        cases.append(fragmenting)
        return cases
    }()
}
