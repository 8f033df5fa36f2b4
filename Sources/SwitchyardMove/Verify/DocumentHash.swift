import Foundation
import Switchyard
import SwitchyardBytes

/// The sum of the hashes of documents: equal sets give equal sums, in whatever order they are read.
struct DocumentHash: Hashable, Sendable {
    private(set) var high: UInt64 = 0
    private(set) var low: UInt64 = 0

    mutating func add(_ digest: PathDigest) {
        high &+= digest.high
        low &+= digest.low
    }

    mutating func add(_ other: DocumentHash) {
        high &+= other.high
        low &+= other.low
    }

    /// 32 hexadecimal digits.
    var text: String {
        Hex.encode([high, low].flatMap { word in withUnsafeBytes(of: word.bigEndian) { Array($0) } })
    }
}

/// The canonical bytes of a document, of which equal ones have equal bytes.
struct CanonicalBytes {
    private(set) var bytes: [UInt8] = []

    /// A hash of the path and the data.
    static func digest(_ document: DocumentSnapshot) -> PathDigest {
        var canonical = CanonicalBytes()
        canonical.append(document.path.rawValue)
        canonical.append(document.data ?? DocumentData())
        return PathDigest(SHA256.digest(of: canonical.bytes))
    }

    private mutating func append(_ data: DocumentData) {
        append(data.count)
        for (name, value) in data {
            append(name)
            append(value)
        }
    }

    private mutating func append(_ value: DocumentValue) {
        switch value {
        case .null: bytes.append(0)
        case .bool(let value): bytes += [1, value ? 1 : 0]
        case .integer(let value): append(2, UInt64(bitPattern: value))
        case .double(let value): append(3, Self.bits(of: value))
        case .timestamp(let time):
            append(4, UInt64(bitPattern: time.seconds))
            append(Int(time.nanoseconds))
        case .string(let text):
            bytes.append(5)
            append(text)
        case .bytes(let value):
            bytes.append(6)
            append(value.count)
            bytes += value
        case .reference(let reference):
            bytes.append(7)
            append(reference.path.rawValue)
            append(reference.origin ?? "")
        case .geoPoint(let point):
            // Both zeros are the same place.
            append(8, Self.bits(of: point.latitude + 0))
            append(8, Self.bits(of: point.longitude + 0))
        case .array(let elements):
            bytes.append(9)
            append(elements.count)
            for element in elements { append(element) }
        case .vector(let numbers):
            bytes.append(10)
            append(numbers.count)
            for number in numbers { append(3, Self.bits(of: number)) }
        case .map(let data):
            bytes.append(11)
            append(data)
        }
    }

    /// All NaNs are one.
    private static func bits(of number: Double) -> UInt64 { number.isNaN ? Double.nan.bitPattern : number.bitPattern }

    private mutating func append(_ tag: UInt8, _ word: UInt64) {
        bytes.append(tag)
        withUnsafeBytes(of: word.bigEndian) { bytes += $0 }
    }

    private mutating func append(_ count: Int) { withUnsafeBytes(of: Int64(count).bigEndian) { bytes += $0 } }

    private mutating func append(_ text: String) {
        append(text.utf8.count)
        bytes += text.utf8
    }
}
