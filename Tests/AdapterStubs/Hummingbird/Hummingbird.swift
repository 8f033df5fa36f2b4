// Declarations of Hummingbird 2.26.0, November 2026. Only type-checked.
public import Logging

@_exported import struct HTTPTypes.HTTPFields
@_exported import struct HTTPTypes.HTTPRequest
@_exported import struct HTTPTypes.HTTPResponse

public struct Request: Sendable {
    public var headers: HTTPFields { fatalError("a declaration") }
}

public struct Response: Sendable {
    public init(status: HTTPResponse.Status, headers: HTTPFields = [:]) {}
}

public protocol MiddlewareProtocol<Input, Output, Context>: Sendable {
    associatedtype Input
    associatedtype Output
    associatedtype Context
    func handle(
        _ input: Input, context: Context, next: (Input, Context) async throws -> Output
    ) async throws -> Output
}

public protocol RouterMiddleware<Context>: MiddlewareProtocol where Input == Request, Output == Response {}

public protocol InitializableFromSource<Source>: Sendable {
    associatedtype Source
    init(source: Source)
}

public protocol RequestContextSource {
    var logger: Logger { get }
}

public struct ApplicationRequestContextSource: RequestContextSource {
    public let logger: Logger
}

public struct CoreRequestContextStorage: Sendable {
    public init(source: some RequestContextSource) {}
}

public protocol RequestContext: InitializableFromSource, RequestContextSource {
    associatedtype Source: RequestContextSource = ApplicationRequestContextSource
    var coreContext: CoreRequestContextStorage { get set }
}

extension RequestContext {
    public var logger: Logger {
        get { fatalError("a declaration") }
        set {}
    }
    public var id: String { fatalError("a declaration") }
}

public protocol ResponseGenerator {}
extension String: ResponseGenerator {}
extension Array: ResponseGenerator where Element == String {}

public protocol HTTPResponseError: Error, ResponseGenerator {
    var status: HTTPResponse.Status { get }
}

public struct HTTPError: Error, HTTPResponseError, Sendable {
    public var status: HTTPResponse.Status
    public init(_ status: HTTPResponse.Status) { fatalError("a declaration") }
    public init(_ status: HTTPResponse.Status, message: String) { fatalError("a declaration") }
    public init(_ status: HTTPResponse.Status, headers: HTTPFields, message: String? = nil) {
        fatalError("a declaration")
    }
}

public struct RouterPath: Sendable, ExpressibleByStringLiteral {
    public init(stringLiteral value: String) {}
}

public final class Router<Context: RequestContext> {
    public init(context: Context.Type) {}
    @discardableResult
    public func add(middleware: any MiddlewareProtocol<Request, Response, Context>) -> Self { self }
    @discardableResult
    public func get(
        _ path: RouterPath = "",
        use handler: @Sendable @escaping (Request, Context) async throws -> some ResponseGenerator
    ) -> Self { self }
}
