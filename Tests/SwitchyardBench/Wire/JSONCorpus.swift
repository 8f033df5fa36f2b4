import SwitchyardBytes

/// Texts to parse, the same in every run: documents like a query's answer, and rows like a table's.
enum JSONCorpus {
    /// An array of documents, each about 970 bytes.
    static func documents(_ count: Int) -> [UInt8] {
        var random = Sequence(seed: 1)
        var text: [UInt8] = []
        text.reserveCapacity(count * 1000)
        text.append(UInt8(ascii: "["))
        for index in 0..<count {
            if index > 0 { text.append(contentsOf: ",\n".utf8) }
            text.append(contentsOf: document(index, &random).utf8)
        }
        text.append(UInt8(ascii: "]"))
        return text
    }

    private static func document(_ index: Int, _ random: inout Sequence) -> String {
        let time =
            "2026-0\(1 + random.next(9))-1\(random.next(10))T12:\(10 + random.next(50)):31.\(100_000 + random.next(900_000))Z"
        return """
            {"document":{"name":"projects/demo-project/databases/(default)/documents/people/p\(100_000 + index)","fields":{\
            "name":{"stringValue":"Person Number \(index)"},"age":{"integerValue":"\(18 + random.next(70))"},\
            "score":{"doubleValue":\(random.next(1000)).\(10 + random.next(89))},"active":{"booleanValue":\(random.next(2) == 0)},\
            "note":{"stringValue":"He said \\"hello\\" \(random.next(1_000_000)) times,\\nthen left for Z\u{FC}rich and K\u{F8}benhavn."},\
            "joined":{"timestampValue":"\(time)"},"missing":{"nullValue":null},\
            "place":{"geoPointValue":{"latitude":\(random.next(90)).\(1000 + random.next(8999)),"longitude":\(random.next(180)).5}},\
            "tags":{"arrayValue":{"values":[{"stringValue":"alpha"},{"stringValue":"beta\(random.next(100))"},\
            {"integerValue":"\(random.next(1_000_000_000))"}]}},"address":{"mapValue":{"fields":{"street":\
            {"stringValue":"Long Street Name \(random.next(500))"},"city":{"stringValue":"Springfield"},\
            "zip":{"stringValue":"\(10_000 + random.next(80_000))"}}}}},"createTime":"\(time)",\
            "updateTime":"\(time)"},"readTime":"2026-10-01T08:00:00.123456Z"}
            """
    }

    /// Pseudorandom numbers, which are the same everywhere.
    struct Sequence {
        private var state: UInt64
        init(seed: UInt64) { state = seed }

        mutating func next(_ bound: Int) -> Int {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int((state >> 33) % UInt64(bound))
        }
    }
}
