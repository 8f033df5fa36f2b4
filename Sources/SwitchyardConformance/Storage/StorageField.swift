public import Switchyard

/// The fields that the checks use where a backend may have fixed columns: one for each kind of value.
///
/// A backend without a fixed schema has them all. A backend with tables declares those for which its table has a column with
/// that name and type; ``text`` and ``number`` are always required.
public enum StorageField: String, Sendable, Hashable, CaseIterable {
    case text
    /// Whole numbers of 64 bits.
    case number
    /// Numbers with a fraction.
    case ratio
    case flag
    /// A time, to the microsecond.
    case moment
    case blob
    case link
    case place
    /// An array of strings.
    case tags
    case vector
    case info

    public var path: FieldPath { FieldPath(stringLiteral: rawValue) }

    /// A value of the field's kind.
    var example: DocumentValue {
        switch self {
        case .text: "straße"
        case .number: 42
        case .ratio: 0.5
        case .flag: true
        case .moment: .time(1_700_000_000, microseconds: 123_456)
        case .blob: .blob(0, 1, 127, 128, 255)
        case .link: .link("users/alice")
        case .place: .place(59.5, 10.75)
        case .tags: ["red", "green"]
        case .vector: .vector([1, -0.5, 2.25])
        case .info: ["city": "Oslo", "zip": 150]
        }
    }
}
