public import Observation
public import Switchyard

/// One document as a screen shows and edits it.
///
/// ```swift
/// @State private var profile = LiveDocument(users.document(user.id))
///
/// if let name = profile.value?.name { Text(name) }
/// Button("Rename") { profile.update(\.name, to: "Alice") }
/// ```
/// An edit shows at once. One that fails is undone by the storage, and ``editError`` says why.
@MainActor @Observable
public final class LiveDocument<Value: Sendable> {
    private struct State {
        var phase = LivePhase.loading
        var value: Value?
        var mismatch: StorageError?
        var hasPendingWrites = false
        var isFromCache = false
        var serverError: StorageError?
    }

    private var state = State()
    /// Why the last edit failed; `nil` again with the next one.
    public private(set) var editError: StorageError?
    @ObservationIgnored public private(set) var document: TypedDocument<Value>
    @ObservationIgnored private let mismatchHandling: MismatchHandling
    @ObservationIgnored private var following: Following?

    /// - Parameters:
    ///   - document: What to show.
    ///   - onMismatch: What happens while the document does not fit the type. By default the value is `nil`, and ``mismatch``
    ///     has the reason, until it fits again.
    public init(_ document: TypedDocument<Value>, onMismatch: MismatchHandling = .skip) {
        self.document = document
        mismatchHandling = onMismatch
    }

    /// A document that gets its client later, by ``connect(to:)``. Until then, reading fails with `.clientNotSet`.
    public convenience init(_ document: UnboundDocument<Value>, onMismatch: MismatchHandling = .skip) {
        self.init(document.in(NoBackend.storage), onMismatch: onMismatch)
    }

    public var phase: LivePhase { watched.phase }
    /// Whether the server has not confirmed that the value is its current state; `false` while nothing is known.
    public var isFromCache: Bool { watched.isFromCache }
    /// Why the stream has failed, as ``phase`` says; ``retry()`` starts over.
    public var error: StorageError? { watched.phase.error }
    /// `nil` while nothing is known, and if the document is missing or does not fit.
    public var value: Value? { watched.value }
    /// Why the document does not fit the type; `nil` if it fits.
    public var mismatch: StorageError? { watched.mismatch }
    /// Whether the value includes writes that the server has not confirmed.
    public var hasPendingWrites: Bool { watched.hasPendingWrites }

    /// Why the value comes from the cache although the server was asked: a rejected key, missing functions, no network. The
    /// stream keeps retrying, and this is `nil` again as soon as it succeeds.
    public var serverError: StorageError? { watched.serverError }

    private var watched: State {
        if following == nil, state.phase.error == nil { follow() }
        return state
    }

    /// Shows another document of the same client.
    public func show(_ document: UnboundDocument<Value>) { show(document.in(self.document.storage)) }

    /// Reads through the backend's storage from now on. The value of another client disappears.
    public func connect(to backend: Infrastructure) { connect(to: backend.storage) }

    func connect(to storage: any StorageClient) {
        if document.storage.identity != storage.identity { show(document.unbound.in(storage)) }
    }

    private func show(_ document: TypedDocument<Value>) {
        let isRead = following != nil || state.phase.error != nil
        self.document = document
        guard isRead else { return }
        state = State()
        editError = nil
        follow()
    }

    /// Starts over after a failure.
    public func retry() {
        state.phase = .loading
        follow()
    }

    /// Asks the server for the document again, as `refreshable` does; the stream delivers what is new. Starts over after a failure.
    ///
    /// - Returns: Whether the server has answered. If not, the value stays as it is.
    @discardableResult
    public func refresh() async -> Bool {
        if state.phase.error != nil { retry() }
        do throws(StorageError) {
            _ = try await document.get(from: .server, onMismatch: .skip)
            return true
        } catch {
            return false
        }
    }

    // MARK: Editing

    /// Writes one field.
    @discardableResult
    public func update<Field: Encodable & Sendable>(
        _ property: any KeyPath<Value, Field> & Sendable, to value: Field
    ) -> Task<Void, Never> {
        edit { document throws(StorageError) in try await document.update(property, to: value) }
    }

    /// Replaces the document, or creates it.
    @discardableResult
    public func set(_ value: Value) -> Task<Void, Never> {
        edit { document throws(StorageError) in try await document.set(value) }
    }

    @discardableResult
    public func delete() -> Task<Void, Never> {
        edit { document throws(StorageError) in try await document.delete() }
    }

    /// - Returns: A task that ends when the server has committed or rejected the edit.
    private func edit(
        _ write: @escaping @Sendable (TypedDocument<Value>) async throws(StorageError) -> WriteReceipt
    ) -> Task<Void, Never> {
        editError = state.phase.error.flatMap { $0.isEndOfSession ? $0 : nil }
        guard editError == nil else { return Task {} }
        return Task { [weak self, document] in
            do throws(StorageError) {
                try await write(document).acknowledged()
            } catch {
                self?.editError = error
            }
        }
    }

    private func follow() {
        let stream = document.stream(Following.options, onMismatch: mismatchHandling)
        following = Following(
            Task { [weak self] in
                do throws(StorageError) {
                    for try await snapshot in stream {
                        guard !Task.isCancelled, let self else { return }
                        self.state = State(
                            phase: snapshot.isFromCache ? .cached : .live, value: snapshot.value,
                            mismatch: snapshot.mismatch, hasPendingWrites: snapshot.hasPendingWrites,
                            isFromCache: snapshot.isFromCache,
                            serverError: snapshot.document.metadata.serverError)
                    }
                } catch {
                    guard !Task.isCancelled, let self else { return }
                    self.state.phase = .failed(error)
                    self.following = nil
                }
            })
    }
}

extension LiveDocument: Connectable {
    func show(declared target: UnboundDocument<Value>) { show(target) }
}
