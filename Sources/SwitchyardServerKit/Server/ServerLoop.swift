import SwitchyardWire
import Synchronization

/// The single thread that owns all descriptors of a server.
///
/// Other threads send it commands; a wake-up is written only if none is pending.
final class ServerLoop: @unchecked Sendable {
    // `@unchecked Sendable`: `commands`, `counts`, `finished` have locks, `let`s are immutable and Sendable, and all other
    // stored properties are used only by the loop thread from `run` on, and before that only by `init`.

    enum Command: Sendable {
        case flush(ServerConnection)
        case resumeReading(ServerConnection)
        case sendContinue(ServerConnection, exchange: Int)
        case cut(ServerConnection, after: Int, reset: Bool)
        case takeOver(ServerConnection, BytePipe)
        case startSession(ServerConnection, any RawConnectionHandler)
        case wakeSession(ServerConnection)
        case finishSending(ServerConnection)
        case answered(ServerConnection, exchange: Int, keepsConnection: Bool)
        case slowDown(ServerConnection, Pace)
        case end(ServerConnection, reset: Bool)
        /// All connections except the one with this number.
        case endOthers(than: Int?, reset: Bool)
        case handlerEnded
        case stop
    }

    private struct Queue {
        var commands: [Command] = []
        var isSignalled = false
        var isOver = false
    }

    let configuration: ServerConfiguration
    let faults: FaultSwitches
    private(set) var control: FaultControl?
    let handler: LoopbackServer.Handler
    let immediately: LoopbackServer.ImmediateHandler?
    let counts = Mutex(ServerStatistics())
    let observer = Mutex<(any ExchangeObserver)?>(nil)

    private let queue = Mutex(Queue())
    private let wakePipe: WakePipe
    private let finished = FinishSignal()

    private var poller = Poller()
    private var listeners: [Int32]
    private var listensNow = true
    private var connections: [Int32: ServerConnection] = [:]
    private var lingering: [Int32: ContinuousClock.Instant] = [:]
    /// Connections held back by a pace.
    private var paced: [Int32: ContinuousClock.Instant] = [:]
    private var isStopping = false
    private var runningHandlers = 0
    private let scratch = UnsafeMutableRawBufferPointer.allocate(byteCount: 128 * 1024, alignment: 16)

    init(
        listeners: [Int32], configuration: ServerConfiguration, faults: FaultSwitches,
        immediately: LoopbackServer.ImmediateHandler?, handler: @escaping LoopbackServer.Handler
    ) throws(ServerError) {
        wakePipe = try WakePipe()
        self.listeners = listeners
        self.configuration = configuration
        self.faults = faults
        self.immediately = immediately
        self.handler = handler
        if let path = configuration.faultControlPath {
            control = FaultControl(path: path, faults: faults) { [weak self] number, reset in
                self?.submit(.endOthers(than: number, reset: reset))
            }
        }
        poller.watch(wakePipe.reader, reading: true, writing: false)
        if configuration.acceptsConnections {
            for listener in listeners { poller.watch(listener, reading: true, writing: false) }
        }
    }

    deinit { scratch.deallocate() }

    // MARK: From any thread

    func submit(_ command: Command) {
        let mustWake = queue.withLock { queue in
            guard !queue.isOver else { return false }
            queue.commands.append(command)
            defer { queue.isSignalled = true }
            return !queue.isSignalled
        }
        if mustWake { wakePipe.wake() }
    }

    /// Returns when the thread has released all descriptors and all handlers have ended.
    func waitUntilFinished() async { await finished.wait() }

    // MARK: On the loop thread

    func run() {
        while true {
            runCommands()
            if isStopping, runningHandlers == 0, connections.isEmpty { break }
            for ready in poller.wait(timeout: timeout()) {
                if ready.descriptor == wakePipe.reader {
                    wakePipe.drain()
                } else if let connection = connections[ready.descriptor] {
                    connection.handle(ready, scratch: scratch)
                } else if listeners.contains(ready.descriptor) {
                    accept(from: ready.descriptor)
                }
            }
            endLingering()
            flushPaced()
        }
        // From now on commands are dropped under the lock, so that no thread wakes a closed pipe.
        queue.withLock { queue in
            queue.isOver = true
            queue.commands = []
        }
        wakePipe.close()
        finished.signal()
    }

    private func runCommands() {
        let commands = queue.withLock { queue in
            queue.isSignalled = false
            defer { queue.commands = [] }
            return queue.commands
        }
        for command in commands { run(command) }
    }

    private func run(_ command: Command) {
        switch command {
        case .flush(let connection): connection.flush()
        case .resumeReading(let connection): connection.resumeReading()
        case .sendContinue(let connection, let exchange): connection.sendContinue(for: exchange)
        case .cut(let connection, let count, let reset): connection.cut(after: count, reset: reset)
        case .takeOver(let connection, let pipe): connection.takeOver(pipe)
        case .startSession(let connection, let handler): connection.takeOver(handler)
        case .wakeSession(let connection): connection.wakeSession()
        case .finishSending(let connection): connection.finishSending()
        case .answered(let connection, let exchange, let keeps): connection.answered(exchange, keepsConnection: keeps)
        case .slowDown(let connection, let pace): connection.slowDown(to: pace)
        case .end(let connection, let reset): connection.end(reset: reset)
        case .endOthers(let number, let reset):
            for connection in Array(connections.values) where connection.number != number {
                connection.end(reset: reset)
            }
        case .handlerEnded:
            runningHandlers -= 1
            counts.withLock { $0.runningHandlers -= 1 }
        case .stop: stop()
        }
    }

    private func stop() {
        isStopping = true
        for listener in listeners {
            poller.forget(listener)
            Socket.close(listener)
        }
        listeners = []
        for connection in Array(connections.values) { connection.lose() }
    }

    // MARK: Connections

    private func accept(from listener: Int32) {
        for _ in 0..<256 {
            switch Socket.accept(from: listener) {
            case .none: return
            case .noDescriptor: return listen(false)
            case .connection(let descriptor):
                let number = counts.withLock { counts in
                    counts.acceptedConnections += 1
                    counts.openConnections += 1
                    return counts.acceptedConnections
                }
                let connection = ServerConnection(descriptor: descriptor, number: number, loop: self)
                connections[descriptor] = connection
                poller.watch(descriptor, reading: true, writing: false)
            }
        }
    }

    private func listen(_ listens: Bool) {
        guard listens != listensNow else { return }
        listensNow = listens
        for listener in listeners { poller.watch(listener, reading: listens, writing: false) }
    }

    func handlerStarted() {
        runningHandlers += 1
        counts.withLock { $0.runningHandlers += 1 }
    }

    func watch(_ connection: ServerConnection, reading: Bool, writing: Bool) {
        poller.watch(connection.descriptor, reading: reading, writing: writing)
    }

    func ignore(_ connection: ServerConnection) { poller.forget(connection.descriptor) }

    /// Closes the connection's descriptor if its client does not do so soon.
    func linger(_ connection: ServerConnection) {
        lingering[connection.descriptor] = .now + configuration.lingering
    }

    func forget(_ connection: ServerConnection) {
        poller.forget(connection.descriptor)
        lingering[connection.descriptor] = nil
        paced[connection.descriptor] = nil
        connections[connection.descriptor] = nil
        counts.withLock { $0.openConnections -= 1 }
        listen(configuration.acceptsConnections)
    }

    /// Continues sending for the connection at `instant`.
    func flush(_ connection: ServerConnection, at instant: ContinuousClock.Instant) {
        paced[connection.descriptor] = instant
    }

    private func flushPaced() {
        guard !paced.isEmpty else { return }
        let now = ContinuousClock.now
        for (descriptor, due) in paced where due <= now {
            paced[descriptor] = nil
            connections[descriptor]?.flush()
        }
    }

    private func timeout() -> Int32 {
        guard let next = [lingering.values.min(), paced.values.min()].compactMap(\.self).min() else { return -1 }
        let left = ContinuousClock.now.duration(to: next)
        let milliseconds = left.components.seconds * 1000 + left.components.attoseconds / 1_000_000_000_000_000 + 1
        return Int32(clamping: max(milliseconds, 0))
    }

    private func endLingering() {
        guard !lingering.isEmpty else { return }
        let now = ContinuousClock.now
        for (descriptor, end) in lingering where end <= now { connections[descriptor]?.lose() }
    }
}
