// Declarations of swift-http-types 1.6.0, November 2026. Only type-checked.

public struct HTTPField: Sendable, Hashable {
    public struct Name: Sendable, Hashable {
        public init?(_ name: String) { return nil }
        public static var authorization: Self { fatalError("a declaration") }
        public static var wwwAuthenticate: Self { fatalError("a declaration") }
    }
}

public struct HTTPFields: Sendable, ExpressibleByDictionaryLiteral {
    public init(dictionaryLiteral elements: (HTTPField.Name, String)...) {}
    public subscript(name: HTTPField.Name) -> String? {
        get { fatalError("a declaration") }
        set {}
    }
}

public struct HTTPRequest: Sendable {}

public struct HTTPResponse: Sendable {
    public struct Status: Sendable, Hashable, ExpressibleByIntegerLiteral {
        public init(code: Int, reasonPhrase: String = "") {}
        public init(integerLiteral value: Int) {}
        public static var unauthorized: Self { fatalError("a declaration") }
        public static var internalServerError: Self { fatalError("a declaration") }
    }
}
