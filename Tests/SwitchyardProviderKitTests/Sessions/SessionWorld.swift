import Switchyard
import SwitchyardProviderKit
import SwitchyardTestSupport

/// The modelled world of ``SessionInterleavingTests``. Each step is what cannot be torn apart in reality.
struct SessionWorld {
    struct Reached {
        var renewals = 0, adoptions = 0, lateAnswers = 0, lostAnswers = 0, forgiven = 0, expirations = 0, crashes = 0
        mutating func add(_ other: Reached) {
            renewals += other.renewals
            adoptions += other.adoptions
            lateAnswers += other.lateAnswers
            lostAnswers += other.lostAnswers
            forgiven += other.forgiven
            expirations += other.expirations
            crashes += other.crashes
        }
    }

    /// A session as the server has it: only the newest refresh token is good, and the one before it, if an answer was lost.
    private struct ServerSession {
        var user: String
        var generation = 1
        var isOver = false
    }

    private enum Work {
        case waitingForLease(number: Int)
        case calling(number: Int, AuthSession)
        case answering(number: Int, RefreshAnswer)
    }

    private struct Engine {
        var machine = SessionMachine()
        var work: [Work] = []
        var holdsLease = false
        /// Whose session it was when somebody began to wait.
        var waiting: [Int: String] = [:]
        var lookedAt = -1
    }

    private(set) var problems: [String] = []
    private(set) var reached = Reached()
    private var random: SeededGenerator
    private var record = SessionRecord.none
    private var version = 0
    private var engines = [Engine(), Engine()]
    private var server: [String: ServerSession] = [:]
    private var now: Int64 = 0
    private var lastWaiter = 0
    private var lastUser = 0
    /// Left by their users, or replaced: never to be seen again.
    private var gone: Set<String> = []

    init(seed: UInt64) { random = SeededGenerator(seed: seed) }

    mutating func step() {
        let index = random.int(0..<2)
        switch random.int(0..<100) {
        case 0..<30: want(index)
        case 30..<80: work(index)
        case 80..<85: signIn(index)
        case 85..<89: signOut(index)
        case 89..<91: endOnServer()
        case 91..<93: crash(index)
        default: now += Int64(random.pick([1, 60, 1000, 3400, 4000]))
        }
        check()
    }

    /// Lets everything under way come to its end; no one may be left waiting.
    mutating func settle() {
        for _ in 0..<10_000 where engines.contains(where: { !$0.work.isEmpty }) { work(random.int(0..<2)) }
        for index in engines.indices {
            look(index)
            if !engines[index].waiting.isEmpty { problems.append("somebody waits for ever") }
            if engines[index].machine.state != state(of: record) {
                problems.append("an engine disagrees with the store")
            }
        }
        check()
    }

    // MARK: What people do

    private mutating func want(_ index: Int) {
        look(index)
        lastWaiter += 1
        if let session = engines[index].machine.session { engines[index].waiting[lastWaiter] = session.user.id }
        send(index, .tokenWanted(lastWaiter, session: nil, refreshing: random.chance(30)))
    }

    private mutating func signIn(_ index: Int) {
        look(index)
        lastUser += 1
        let name = "user\(lastUser)"
        server[name] = ServerSession(user: name)
        if let before = record.session { gone.insert(before.id) }
        let session = AuthSession(id: "session of \(name)", user: AuthUser(id: name), tokens: tokens(name, 1))
        let attempt = engines[index].machine.nextAttempt()
        send(index, .began(session, attempt: attempt))
        if record.session?.id != session.id { problems.append("a sign-in was lost") }
    }

    private mutating func signOut(_ index: Int) {
        look(index)
        guard let session = engines[index].machine.session else { return }
        send(index, .ended(SignOut(.byUser), session: session.id))
        gone.insert(session.id)
    }

    private mutating func endOnServer() {
        guard let name = record.session?.user.id else { return }
        server[name]?.isOver = true
    }

    /// The process dies and starts again: what it had in memory is gone, and its locks are free.
    private mutating func crash(_ index: Int) {
        engines[index] = Engine()
        reached.crashes += 1
        look(index)
    }

    // MARK: What is under way

    private mutating func work(_ index: Int) {
        guard !engines[index].work.isEmpty else { return }
        let place = random.int(0..<engines[index].work.count)
        switch engines[index].work[place] {
        case .waitingForLease(let number):
            guard !engines.contains(where: \.holdsLease) else { return }
            engines[index].work.remove(at: place)
            engines[index].holdsLease = true
            look(index)
            let count = engines[index].work.count
            let wasRefreshing = engines[index].machine.isRefreshing
            send(index, .prepared(number))
            if engines[index].work.count == count {
                engines[index].holdsLease = false
                if wasRefreshing, !engines[index].machine.isRefreshing { reached.adoptions += 1 }
            }
        case .calling(let number, let session):
            let answer = refresh(session)
            let isLost = random.chance(20)
            if isLost { reached.lostAnswers += 1 }
            engines[index].work[place] = .answering(
                number: number, isLost ? .failed(SessionSamples.unavailable) : answer)
        case .answering(let number, let answer):
            engines[index].work.remove(at: place)
            if !engines[index].machine.isRefreshing { reached.lateAnswers += 1 }
            send(index, .answered(number, answer))
            engines[index].holdsLease = false
        }
    }

    private mutating func refresh(_ session: AuthSession) -> RefreshAnswer {
        let name = session.user.id
        guard let known = server[name], !known.isOver, let token = session.tokens?.refresh.reveal(),
            let generation = token.split(separator: "#").last.flatMap({ Int($0) })
        else { return .refused(.expired, SessionSamples.refused) }
        switch known.generation - generation {
        case 0:
            server[name]?.generation += 1
            reached.renewals += 1
            return .renewed(tokens(name, generation + 1), nil)
        case 1:
            reached.forgiven += 1
            return .renewed(tokens(name, known.generation), nil)
        default:
            problems.append("an old refresh token was used, which costs \(name) the session")
            return .refused(.expired, SessionSamples.refused)
        }
    }

    private func tokens(_ name: String, _ generation: Int) -> SessionTokens {
        SessionTokens(
            refresh: Secret("refresh of \(name)#\(generation)"), access: Secret("access of \(name)#\(generation)"),
            issuedAt: SessionSamples.time(now), lifetime: .seconds(3600))
    }

    // MARK: Machines

    private mutating func look(_ index: Int) {
        guard engines[index].lookedAt != version else { return }
        engines[index].lookedAt = version
        send(index, .found(record))
    }

    private mutating func send(_ index: Int, _ event: SessionMachine.Event) {
        for action in engines[index].machine.handle(event, at: SessionSamples.time(now)) {
            switch action {
            case .prepare(let number): engines[index].work.append(.waitingForLease(number: number))
            case .call(let number, let session): engines[index].work.append(.calling(number: number, session))
            // An abandoned call may have reached the server all the same: its answer still comes, and must do no harm.
            case .abandon: break
            case .change(let change):
                if let changed = change.applied(to: record) {
                    record = changed
                    version += 1
                    engines[index].lookedAt = version
                    if case .expire = change.kind { reached.expirations += 1 }
                    send(index, .changed(change, .kept(changed)))
                } else {
                    send(index, .changed(change, .overtaken(record)))
                }
            case .resume(let waiter, let outcome):
                let user = engines[index].waiting.removeValue(forKey: waiter)
                if case .success(let token) = outcome, token.userID != user {
                    problems.append("a token of another user")
                }
            case .publish, .refreshed: break
            }
        }
    }

    private func state(of record: SessionRecord) -> AuthState {
        var machine = SessionMachine()
        _ = machine.handle(.found(record), at: SessionSamples.time(now))
        return machine.state
    }

    private mutating func check() {
        if let session = record.session {
            if gone.contains(session.id) { problems.append("a session came back that was left") }
            if session.tokens == nil, server[session.user.id]?.isOver != true {
                problems.append("a session is over that the server has not ended")
            }
        }
        if engines.filter(\.holdsLease).count > 1 { problems.append("two refresh at once") }
    }
}
