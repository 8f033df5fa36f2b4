import SwitchyardBytes

/// Reports every call, stream and transfer, and how long it took, to an observer. Changes nothing about them.
///
/// A provider reports what happens below its clients, such as a repaired connection or a fetched token, to the observer of its
/// ``ModuleContext``. An ``Infrastructure`` reports the length of its storages' queues.
public struct ObserveLayer: ClientLayer {
    private let observer: any InfrastructureObserver
    private let clock: any Clock<Duration>

    public init(_ observer: any InfrastructureObserver, clock: any Clock<Duration> = ContinuousClock()) {
        self.observer = observer
        self.clock = clock
    }

    public func call<Result, Failure: ClientError>(
        _ call: ClientCall, _ body: () async throws(Failure) -> Result
    ) async throws(Failure) -> Result {
        let watch = Stopwatch(clock)
        func tell(_ failure: Failure?) {
            self.tell(
                call,
                .call(operation: call.operation, duration: watch.elapsed, failure: failure.map(call.failure)))
        }
        do throws(Failure) {
            let result = try await body()
            tell(nil)
            return result
        } catch {
            tell(error)
            throw error
        }
    }

    public func stream<Element: Sendable, Failure: Error>(
        _ call: ClientCall, _ stream: SnapshotStream<Element, Failure>
    ) -> SnapshotStream<Element, Failure> {
        let requestID = ServedRequest.current?.id
        return stream.observingLife {
            opened(call, requestID)
        } ended: { failure in
            closed(call, failure, requestID)
        }
    }

    public func stream<Element: Sendable, Failure: Error>(
        _ call: ClientCall, _ stream: EventStream<Element, Failure>
    ) -> EventStream<Element, Failure> {
        let requestID = ServedRequest.current?.id
        return stream.observingLife {
            opened(call, requestID)
        } ended: { failure in
            closed(call, failure, requestID)
        }
    }

    /// Waits for the end of the transfer, as its owner may do, too.
    public func began<Output: Sendable>(_ call: ClientCall, _ transfer: FileTransfer<Output>) {
        Task {
            do throws(FileStorageError) {
                _ = try await self.call(call.toItsEnd) { () throws(FileStorageError) in try await transfer.result() }
            } catch {
                // The observer was notified, and the owner of the transfer gets the error, too.
            }
        }
    }

    private func opened(_ call: ClientCall, _ requestID: String?) {
        tell(call, .streamOpened(operation: call.operation), requestID)
    }
    private func closed(_ call: ClientCall, _ failure: (any Error)?, _ requestID: String?) {
        tell(call, .streamClosed(operation: call.operation, failure: failure.map(call.failure)), requestID)
    }

    private func tell(
        _ call: ClientCall, _ kind: InfrastructureEvent.Kind, _ requestID: String? = ServedRequest.current?.id
    ) {
        observer.observe(
            InfrastructureEvent(service: call.service, provider: call.provider, kind: kind, requestID: requestID))
    }
}
