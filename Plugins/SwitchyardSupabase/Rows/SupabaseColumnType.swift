/// The database's type of a column, by its name in SQL.
///
/// ```swift
/// mapping.columnTypes = ["due": .timestamptz, "tags": .array(of: .text), "mood": "mood"]
/// ```
public struct SupabaseColumnType: RawRepresentable, Sendable, Hashable, Codable, ExpressibleByStringLiteral {
    public let rawValue: String

    public init(rawValue: String) { self.rawValue = rawValue }
    public init(stringLiteral value: String) { rawValue = value }

    public init(from decoder: any Decoder) throws {
        rawValue = try decoder.singleValueContainer().decode(String.self)
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(rawValue)
    }

    public static let text: Self = "text"
    public static let uuid: Self = "uuid"
    public static let bool: Self = "bool"
    public static let int2: Self = "int2"
    public static let int4: Self = "int4"
    public static let int8: Self = "int8"
    public static let float4: Self = "float4"
    public static let float8: Self = "float8"
    public static let numeric: Self = "numeric"
    public static let timestamptz: Self = "timestamptz"
    public static let timestamp: Self = "timestamp"
    public static let date: Self = "date"
    public static let time: Self = "time"
    public static let interval: Self = "interval"
    public static let bytea: Self = "bytea"
    public static let json: Self = "json"
    public static let jsonb: Self = "jsonb"

    /// An array of values of another type.
    public static func array(of element: Self) -> Self { Self(rawValue: "\(element.rawValue)[]") }
}
