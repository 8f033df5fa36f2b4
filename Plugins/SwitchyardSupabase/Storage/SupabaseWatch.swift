import Switchyard
import SwitchyardBytes
import SwitchyardSync
import Synchronization

/// The stream of changes of one client. All its targets are looked at together, as of one moment: when somebody gives a
/// hint, when a target is added, and every now and then.
final class SupabaseWatch: WatchConnection {
    private let state = Mutex(WatchedChanges())
    private let events = StreamBuffer<WatchEvent, StorageError>(.all)
    private let wake = StreamBuffer<Void, Never>(.newest)
    private let hints: ChangeHints
    private let hintName: Int
    private let tasks = Mutex<[Task<Void, Never>]>([])

    /// Every so many looks, results are counted: see ``WatchedChanges/inquiry(recounts:)``.
    private static let looksPerCount = 30

    init(_ service: PostgRESTService, _ hints: ChangeHints, interval: Duration, clock: any Clock<Duration>) {
        self.hints = hints
        hintName = hints.tell(wake)
        let wake = wake
        let timer = Task {
            while (try? await clock.sleep(for: interval)) != nil { wake.yield(()) }
        }
        let looking = Task { [weak self] in
            var count = 0
            while await wake.next() != nil {
                count += 1
                guard await self?.look(service, recounts: count % SupabaseWatch.looksPerCount == 0) == true else {
                    return
                }
            }
        }
        tasks.withLock { $0 = [timer, looking] }
    }

    deinit { close() }

    func send(_ request: WatchRequest) {
        // Under the lock, so that the answer to a request stands behind what was told before.
        state.withLock { state in
            for event in state.take(request) { events.yield(event) }
        }
        wake.yield(())
    }

    func next() async throws(StorageError) -> WatchEvent? { try await events.next() }

    func close() {
        hints.forget(hintName)
        for task in tasks.withLock({ $0 }) { task.cancel() }
        wake.finish(.success(()))
        events.finish(.success(()))
    }

    /// - Returns: Whether to go on.
    private func look(_ service: PostgRESTService, recounts: Bool) async -> Bool {
        guard let inquiry = state.withLock({ $0.inquiry(recounts: recounts) }) else { return true }
        do throws(StorageError) {
            let answer = try await service.call("switchyard_changes", ["targets": inquiry.json], isIdempotent: true)
            let result = state.withLock { state -> Result<Void, StorageError> in
                do throws(StorageError) {
                    for event in try state.take(answer, to: inquiry) { events.yield(event) }
                    return .success(())
                } catch {
                    return .failure(error)
                }
            }
            try result.get()
            return true
        } catch {
            events.finish(.failure(error))
            return false
        }
    }
}
