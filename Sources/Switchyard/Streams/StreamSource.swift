import Synchronization

/// What an iterator pulls from: a subscription, or a step that stands on another source. Released with the iterator.
package protocol StreamSource<Element, Failure>: AnyObject, Sendable {
    associatedtype Element: Sendable
    associatedtype Failure: Error

    /// Begins, and returns when it has taken hold or has ended; `next()` then says which.
    func begin() async
    /// Begins, if that has not been done.
    ///
    /// - Returns: `nil` at the end, and when the task is cancelled.
    func next() async throws(Failure) -> Element?
}

/// Elements of another source, transformed or dropped on the consumer's side: elements that are not fetched cost nothing.
final class TransformingSource<Input: Sendable, Output: Sendable, Failure: Error>: StreamSource {
    private let base: Mutex<(any StreamSource<Input, Failure>)?>
    private let transform: @Sendable (Input) throws(Failure) -> Output?

    /// - Parameter transform: `nil` leaves the element out; a failure ends the source.
    init(
        _ base: any StreamSource<Input, Failure>, _ transform: @escaping @Sendable (Input) throws(Failure) -> Output?
    ) {
        self.base = Mutex(base)
        self.transform = transform
    }

    func begin() async { await base.withLock { $0 }?.begin() }

    func next() async throws(Failure) -> Output? {
        while let element = try await base.withLock({ $0 })?.next() {
            do throws(Failure) {
                if let result = try transform(element) { return result }
            } catch {
                base.withLock { $0 = nil }  // the last hold on it, so it is cleaned up now
                throw error
            }
        }
        return nil
    }
}

/// Elements of another source, with another type of failure.
final class ErrorMappingSource<Element: Sendable, Inner: Error, Failure: Error>: StreamSource {
    private let base: any StreamSource<Element, Inner>
    private let transform: @Sendable (Inner) -> Failure

    init(_ base: any StreamSource<Element, Inner>, _ transform: @escaping @Sendable (Inner) -> Failure) {
        self.base = base
        self.transform = transform
    }

    func begin() async { await base.begin() }

    func next() async throws(Failure) -> Element? {
        do throws(Inner) {
            return try await base.next()
        } catch {
            throw transform(error)
        }
    }
}

/// Elements of another source that cannot fail, as of one that could.
final class NonfailingSource<Element: Sendable, Failure: Error>: StreamSource {
    private let base: any StreamSource<Element, Never>

    init(_ base: any StreamSource<Element, Never>) { self.base = base }

    func begin() async { await base.begin() }
    func next() async throws(Failure) -> Element? { await base.next() }
}
