/// Times calls and streams and tells an observer of them; what all observed clients have in common.
struct CallWatch: Sendable {
    let service: InfrastructureService
    let provider: InfrastructureProvider
    let observer: any InfrastructureObserver

    func tell(_ kind: InfrastructureEvent.Kind) {
        observer.observe(InfrastructureEvent(service: service, provider: provider, kind: kind))
    }

    func call<Result, Failure: ClientError>(
        _ operation: String, _ call: () async throws(Failure) -> Result
    ) async throws(Failure) -> Result {
        let start = ContinuousClock.now
        do throws(Failure) {
            let result = try await call()
            tell(.call(operation: operation, duration: start.duration(to: .now), failure: nil))
            return result
        } catch {
            tell(.call(operation: operation, duration: start.duration(to: .now), failure: error.code.rawValue))
            throw error
        }
    }

    /// The same stream, with its opening and its end reported: each exactly once for each iteration.
    func stream<Element: Sendable, Failure: ClientError>(
        _ operation: String, _ stream: SnapshotStream<Element, Failure>
    ) -> SnapshotStream<Element, Failure> {
        stream.observingLife {
            tell(.streamOpened(operation: operation))
        } ended: { failure in
            tell(.streamClosed(operation: operation, failure: failure?.code.rawValue))
        }
    }

    func stream<Element: Sendable, Failure: ClientError>(
        _ operation: String, _ stream: EventStream<Element, Failure>
    ) -> EventStream<Element, Failure> {
        stream.observingLife {
            tell(.streamOpened(operation: operation))
        } ended: { failure in
            tell(.streamClosed(operation: operation, failure: failure?.code.rawValue))
        }
    }
}
