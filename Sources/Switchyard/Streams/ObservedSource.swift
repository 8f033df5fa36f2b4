import SwitchyardBytes
import Synchronization

/// Another source, with callbacks when an iteration begins, with each element, and, once, when it ends for any reason.
final class ObservedSource<Element: Sendable, Failure: Error>: StreamSource {
    private let base: any StreamSource<Element, Failure>
    private let opened: Once
    private let delivered: (@Sendable (Element) -> Void)?
    private let ended: Mutex<(@Sendable (Failure?) -> Void)?>

    init(
        _ base: any StreamSource<Element, Failure>, opened: @escaping @Sendable () -> Void,
        delivered: (@Sendable (Element) -> Void)?, ended: @escaping @Sendable (Failure?) -> Void
    ) {
        self.base = base
        self.opened = Once(opened)
        self.delivered = delivered
        self.ended = Mutex(ended)
    }

    func begin() async {
        opened.run()
        await base.begin()
    }

    func next() async throws(Failure) -> Element? {
        opened.run()
        do throws(Failure) {
            let element = try await base.next()
            if let element { delivered?(element) } else { end(nil) }
            return element
        } catch {
            end(error)
            throw error
        }
    }

    private func end(_ failure: Failure?) {
        let ended = ended.withLock { ended in
            defer { ended = nil }
            return ended
        }
        // One that was never opened has nothing to end.
        if opened.hasRun { ended?(failure) }
    }

    deinit { end(nil) }
}
