// Declarations of swift-log 1.14.0, November 2026. Only type-checked.

public struct Logger: Sendable {
    public typealias Metadata = [String: MetadataValue]

    public enum MetadataValue: Sendable {
        case string(String)
        case stringConvertible(any CustomStringConvertible & Sendable)
        case dictionary(Metadata)
        case array([MetadataValue])
    }

    public enum Level: String, Codable, CaseIterable, Sendable {
        case trace, debug, info, notice, warning, error, critical
    }

    public struct Message: ExpressibleByStringLiteral, Equatable, CustomStringConvertible,
        ExpressibleByStringInterpolation, Sendable
    {
        public init(stringLiteral value: String) {}
        public var description: String { fatalError("a declaration") }
    }

    public init(label: String) {}
    public var label: String { fatalError("a declaration") }
    public var logLevel: Level {
        get { fatalError("a declaration") }
        set {}
    }

    public func log(
        level: Level, _ message: @autoclosure () -> Message, metadata: @autoclosure () -> Metadata? = nil,
        source: @autoclosure () -> String? = nil, file: String = #fileID, function: String = #function,
        line: UInt = #line
    ) {}
}

extension Logger.MetadataValue: ExpressibleByStringLiteral, ExpressibleByStringInterpolation {
    public init(stringLiteral value: String) { self = .string(value) }
}

extension Logger.Level: Comparable {
    public static func < (left: Logger.Level, right: Logger.Level) -> Bool { fatalError("a declaration") }
}
