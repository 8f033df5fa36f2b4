// Declarations of Vapor 4.122.0, November 2026. Only type-checked.
@_exported import Foundation
@_exported import Logging
@_exported import struct NIOHTTP1.HTTPHeaders
@_exported import enum NIOHTTP1.HTTPResponseStatus

public protocol Responder: Sendable {}
public protocol AsyncResponder: Responder {
    func respond(to request: Request) async throws -> Response
}

public protocol Middleware: Sendable {}
public protocol AsyncMiddleware: Middleware {
    func respond(to request: Request, chainingTo next: any AsyncResponder) async throws -> Response
}

public final class Request: Sendable {
    public let id: String
    public var headers: HTTPHeaders {
        get { fatalError("a declaration") }
        set {}
    }
    public var logger: Logger {
        get { fatalError("a declaration") }
        set {}
    }
    public var storage: Storage {
        get { fatalError("a declaration") }
        set {}
    }

    init() { id = "" }
}

public final class Response: Sendable {
    public init(status: HTTPResponseStatus = .ok) {}
}

public struct Storage: Sendable {
    public subscript<Key: StorageKey>(_ key: Key.Type) -> Key.Value? {
        get { fatalError("a declaration") }
        set {}
    }
}

public protocol StorageKey {
    associatedtype Value: Sendable
}

public protocol AbortError: Error {
    var reason: String { get }
    var status: HTTPResponseStatus { get }
    var headers: HTTPHeaders { get }
}

public struct Abort: AbortError {
    public var identifier: String
    public var status: HTTPResponseStatus
    public var headers: HTTPHeaders
    public var reason: String

    public init(
        _ status: HTTPResponseStatus, headers: HTTPHeaders = [:], reason: String? = nil, identifier: String? = nil,
        suggestedFixes: [String] = [], file: String = #fileID, function: String = #function, line: UInt = #line,
        column: UInt = #column, range: Range<UInt>? = nil
    ) { fatalError("a declaration") }
}

/// Requests go through it; the router of an application and groups of routes are such.
public protocol RoutesBuilder {}

extension RoutesBuilder {
    public func grouped(_ middleware: any Middleware...) -> any RoutesBuilder { self }
}

public protocol AsyncResponseEncodable {}
extension String: AsyncResponseEncodable {}
extension Array: AsyncResponseEncodable where Element == String {}

extension RoutesBuilder {
    @preconcurrency @discardableResult
    public func get<Answer: AsyncResponseEncodable>(
        _ path: PathComponent..., use closure: @Sendable @escaping (Request) async throws -> Answer
    ) -> Route { fatalError("a declaration") }
}

public enum PathComponent: ExpressibleByStringLiteral {
    case constant(String)
    public init(stringLiteral value: String) { self = .constant(value) }
}

/// A name that Switchyard has, too: printed files must not depend on which one is meant.
public final class Route: Sendable {
    init() {}
}

public final class Application: RoutesBuilder, Sendable {
    init() {}
}
