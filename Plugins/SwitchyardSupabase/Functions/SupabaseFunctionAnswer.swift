public import Foundation
import Switchyard
import SwitchyardBytes
import SwitchyardProviderKit
import SwitchyardWire

/// The answer of a function.
public struct SupabaseFunctionAnswer: Sendable, Hashable {
    public let status: Int
    /// Names are in lower case; of repeated headers, the first value.
    public let headers: [String: String]
    public let body: Data

    init(_ head: HTTPResponseHead, body: [UInt8] = []) {
        status = head.status
        var headers: [String: String] = [:]
        for field in head.headers where headers[field.name.lowercased()] == nil {
            headers[field.name.lowercased()] = field.value
        }
        self.headers = headers
        self.body = Data(body)
    }

    /// The media type of the body in lower case, without parameters.
    public var contentType: String? {
        headers["content-type"]?.split(separator: ";").first.map { type in
            String(type.lowercased().filter { $0 != " " })
        }
    }

    /// The body as text.
    public var text: String { String(decoding: body, as: UTF8.self) }

    /// Decodes the body as JSON.
    ///
    /// - Throws: `.invalidAnswer` for a body that is not JSON, or is not such a value.
    public func decoded<Value: Decodable>(as type: Value.Type = Value.self) throws(SupabaseFunctionError) -> Value {
        do {
            return try JSONBytesDecoder().decode(type, from: Array(body))
        } catch {
            throw SupabaseFunctionError(
                .invalidAnswer, "The function returned an unexpected response.", underlying: error)
        }
    }
}

extension SupabaseFunctionAnswer: CustomStringConvertible, CustomReflectable {
    /// Omits contents, which must not be logged.
    public var description: String { "SupabaseFunctionAnswer(\(status), \(body.count) bytes)" }
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}

/// An answer that is streamed, such as server-sent events. It can be read only once; leaving the loop ends the call.
public struct SupabaseFunctionStream: AsyncSequence, Sendable {
    public typealias Element = Data
    public typealias Failure = SupabaseFunctionError

    /// The answer without its body.
    public let head: SupabaseFunctionAnswer
    private let body: HTTPBody

    init(_ stream: HTTPStream) {
        head = SupabaseFunctionAnswer(stream.head)
        body = stream.body
    }

    public struct AsyncIterator: AsyncIteratorProtocol {
        fileprivate var base: HTTPBody.AsyncIterator

        public mutating func next() async throws(SupabaseFunctionError) -> Data? {
            try await next(isolation: nil)
        }

        public mutating func next(
            isolation actor: isolated (any Actor)?
        ) async throws(SupabaseFunctionError) -> Data? {
            do throws(TransportError) {
                return try await base.next().map { Data($0) }
            } catch {
                throw SupabaseFunctionError(error)
            }
        }
    }

    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(base: body.makeAsyncIterator()) }
}
