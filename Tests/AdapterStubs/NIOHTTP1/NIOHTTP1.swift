// Declarations of swift-nio 2, as Vapor 4.122.0 exports them, November 2026. Only type-checked.

public struct HTTPHeaders: Sendable, ExpressibleByDictionaryLiteral {
    public init(dictionaryLiteral elements: (String, String)...) {}
    public func first(name: String) -> String? { fatalError("a declaration") }
    public subscript(name: String) -> [String] { fatalError("a declaration") }
}

public enum HTTPResponseStatus: Sendable {
    case ok, unauthorized, forbidden, notFound, internalServerError, serviceUnavailable, gatewayTimeout
    case custom(code: UInt, reasonPhrase: String)

    public init(statusCode: Int, reasonPhrase: String = "") { self = .ok }
}
