import Switchyard

#if canImport(SwiftUI)
    import SwiftUI
#endif

/// A live object that can be declared before there is a client.
@MainActor protocol Connectable: AnyObject, Sendable {
    /// What is declared to be shown: a query or a document without a client.
    associatedtype Target: Equatable & Sendable

    /// Shows `target` instead of what is shown now.
    func show(declared target: Target)
    /// Reads through `storage` from now on; changes nothing if it does already.
    func connect(to storage: any StorageClient)
}

/// A live object that a view keeps while it is made again and again, and connects to the backend of its environment.
@MainActor struct Kept<Source: Connectable> {
    private(set) var source: Source
    private let target: Source.Target
    private let backend: Infrastructure?

    init(_ source: Source, _ target: Source.Target, in backend: Infrastructure?) {
        self.source = source
        self.target = target
        self.backend = backend
        if let backend { source.connect(to: backend.storage) }
        #if canImport(SwiftUI)
            _state = State(wrappedValue: Installed(source: source, target: target))
        #endif
    }

    /// What the view had when it was made first, and what it was last declared with.
    @MainActor final class Installed {
        let source: Source
        private var target: Source.Target

        init(source: Source, target: Source.Target) {
            self.source = source
            self.target = target
        }

        /// Follows a new declaration. What was shown instead of the old one stays until then.
        func declare(_ target: Source.Target, in backend: Infrastructure?) -> Source {
            if let backend { source.connect(to: backend.storage) }
            if target != self.target {
                self.target = target
                source.show(declared: target)
            }
            return source
        }
    }

    #if canImport(SwiftUI)
        @State private var state: Installed
        @Environment(\.backend) private var environment
    #endif
}

/// Stands for the client of a live object that has none.
enum NoBackend {
    static var storage: any StorageClient {
        UnsetClients { _, operation in
            "“\(operation)” failed: there is no backend. Set it with .backend(_:) around the view, or pass it as `in:`."
        }.storage
    }
}

#if canImport(SwiftUI)
    extension Kept: DynamicProperty {
        // SwiftUI updates properties on the main actor, before it calls the view's body. The requirement does not say so.
        nonisolated mutating func update() {
            MainActor.assumeIsolated { source = state.declare(target, in: backend ?? environment) }
        }
    }
#endif
