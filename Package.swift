// swift-tools-version: 6.3
import PackageDescription

/// Where requests go through Foundation.
let apple: [Platform] = [.macOS, .iOS, .tvOS, .watchOS, .visionOS]

/// Which module may see which: the only place where that is written down. `.ci/imports` checks the sources against it.
let package = Package(
    name: "Switchyard",
    platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
    products: [
        .library(name: "Switchyard", targets: ["Switchyard"]),
        .library(name: "SwitchyardMock", targets: ["SwitchyardMock"]),
        .library(name: "SwitchyardFirebase", targets: ["SwitchyardFirebase"]),
        .library(name: "SwitchyardSupabase", targets: ["SwitchyardSupabase"]),
        .library(name: "SwitchyardSync", targets: ["SwitchyardSync"]),
        .library(name: "SwitchyardProviderKit", targets: ["SwitchyardProviderKit"]),
        .library(name: "SwitchyardConformance", targets: ["SwitchyardConformance"]),
        .library(name: "SwitchyardTesting", targets: ["SwitchyardTesting"]),
        .library(name: "SwitchyardObservation", targets: ["SwitchyardObservation"]),
        .library(name: "SwitchyardMove", targets: ["SwitchyardMove"]),
        .library(name: "SwitchyardReporting", targets: ["SwitchyardReporting"]),
        .library(name: "SwitchyardLocalFirebase", targets: ["SwitchyardLocalFirebase"]),
        .library(name: "SwitchyardLocalSupabase", targets: ["SwitchyardLocalSupabase"]),
        .executable(name: "switchyard", targets: ["SwitchyardCLI"]),
    ],
    targets: [
        // The portable API and the pure pieces below it.
        .target(name: "CSwitchyardChecksum"),
        .target(
            name: "SwitchyardBytes",
            dependencies: [
                "CSwitchyardChecksum"
            ]),
        .target(name: "Switchyard", dependencies: ["SwitchyardBytes"]),

        // Queries and documents as people and programs write them, for the tool and for pages.
        .target(name: "SwitchyardText", dependencies: ["Switchyard", "SwitchyardBytes"]),

        // What providers share: sessions, transfers, messages that wait.
        .target(name: "SwitchyardProviderKit", dependencies: ["Switchyard", "SwitchyardBytes"]),

        // System libraries, opened at first use; no header and no link needed for building.
        .target(name: "CSwitchyardLibraries"),

        // Bytes on the wire, and the offline engine.
        .target(
            name: "SwitchyardWire",
            dependencies: [
                "SwitchyardBytes", .target(name: "CSwitchyardLibraries", condition: .when(platforms: [.linux])),
            ]),
        .target(name: "SwitchyardURLSession", dependencies: ["SwitchyardBytes", "SwitchyardWire"]),
        .target(name: "SwitchyardSync", dependencies: ["Switchyard", "SwitchyardBytes", "CSwitchyardLibraries"]),
        // What providers over HTTP share.
        .target(
            name: "SwitchyardProviderHTTP",
            dependencies: [
                "Switchyard", "SwitchyardBytes", "SwitchyardProviderKit", "SwitchyardWire",
                .target(name: "CSwitchyardLibraries", condition: .when(platforms: [.linux])),
                .target(name: "SwitchyardURLSession", condition: .when(platforms: apple)),
            ]),

        // Providers.
        .target(
            name: "SwitchyardMock", dependencies: ["Switchyard", "SwitchyardBytes", "SwitchyardProviderKit"],
            path: "Plugins/SwitchyardMock"),
        .target(
            name: "SwitchyardFirestoreFormat", dependencies: ["Switchyard", "SwitchyardBytes"],
            path: "Plugins/SwitchyardFirestoreFormat", resources: [.embedInCode("Rules/domain.rules")]),
        .target(
            name: "SwitchyardFirebase",
            dependencies: [
                "Switchyard", "SwitchyardBytes", "SwitchyardProviderKit", "SwitchyardWire", "SwitchyardSync",
                "SwitchyardFirestoreFormat", "SwitchyardProviderHTTP",
            ],
            path: "Plugins/SwitchyardFirebase"),
        .target(
            name: "SwitchyardSupabase",
            dependencies: [
                "Switchyard", "SwitchyardBytes", "SwitchyardProviderKit", "SwitchyardWire", "SwitchyardSync",
                "SwitchyardProviderHTTP",
            ],
            path: "Plugins/SwitchyardSupabase",
            resources: [
                "common", "values", "tables", "queries", "visible", "writing", "reading", "changes", "commits",
                "domain",
                "rows", "messaging", "check",
            ].map {
                .embedInCode("SQL/\($0).sql")
            }),

        // What stands beside the clients.
        // The checks of every provider, with the model server that a driver is compared with and the mock's harnesses.
        .target(
            name: "SwitchyardConformance",
            dependencies: ["Switchyard", "SwitchyardBytes", "SwitchyardSync", "SwitchyardMock"]),
        // For tests of apps and providers; imports Swift Testing.
        .target(name: "SwitchyardTesting", dependencies: ["Switchyard", "SwitchyardMock", "SwitchyardConformance"]),
        .target(name: "SwitchyardObservation", dependencies: ["Switchyard"]),
        // An app's report of what its clients do, to the page of a local server.
        .target(
            name: "SwitchyardReporting",
            dependencies: ["Switchyard", "SwitchyardBytes", "SwitchyardWire", "SwitchyardProviderHTTP"]),
        // Copies everything from one backend to another, or to a folder and back.
        .target(
            name: "SwitchyardMove", dependencies: ["Switchyard", "SwitchyardBytes", "SwitchyardProviderKit"]),
        // Local servers that speak the vendors' protocols.
        // It signs and verifies tokens by the library that the clients verify them with.
        .target(
            name: "SwitchyardServerKit",
            dependencies: ["Switchyard", "SwitchyardBytes", "SwitchyardWire", "SwitchyardProviderHTTP"]),
        .target(
            name: "SwitchyardLocalFirebase",
            dependencies: [
                "Switchyard", "SwitchyardBytes", "SwitchyardWire", "SwitchyardServerKit", "SwitchyardFirestoreFormat",
            ]),
        .target(
            name: "SwitchyardLocalSupabase",
            dependencies: ["Switchyard", "SwitchyardBytes", "SwitchyardWire", "SwitchyardServerKit"],
            resources: ["roles", "auth", "storage", "realtime"].map { .embedInCode("SQL/\($0).sql") }),

        // The page that shows what a backend and an app are doing. Only the tool has it.
        .target(
            name: "SwitchyardPage",
            dependencies: [
                "Switchyard", "SwitchyardBytes", "SwitchyardWire", "SwitchyardText", "SwitchyardServerKit",
                "SwitchyardLocalFirebase", "SwitchyardLocalSupabase", "SwitchyardFirebase", "SwitchyardSupabase",
                "SwitchyardProviderHTTP", "SwitchyardFirestoreFormat",
            ],
            resources: [
                "accounts.js", "acting.js", "api.js", "app.css", "app.js", "connected.js", "data.js",
                "dialogs.js", "document.js", "dom.js", "events.js", "explain.js", "faults.js", "fields.js",
                "files.js", "grid.js", "index.html", "messages.js", "outbox.js", "requests.js", "source.js",
                "state.js", "stream.js", "undo.js", "values.js",
            ].map { .embedInCode("Assets/\($0)") }
                + ["default", "files"].map { .embedInCode("Rules/\($0).rules") }),

        // Programs.
        // The example's story is told by `switchyard demo` too.
        .target(
            name: "SwitchyardLifeSignalStory", dependencies: ["Switchyard"], path: "Examples/LifeSignal/Story"),
        .executableTarget(
            name: "SwitchyardCLI",
            dependencies: [
                "Switchyard", "SwitchyardBytes", "SwitchyardMock", "SwitchyardFirebase", "SwitchyardSupabase",
                "SwitchyardConformance", "SwitchyardServerKit", "SwitchyardLocalFirebase", "SwitchyardLocalSupabase",
                "SwitchyardMove", "SwitchyardText", "SwitchyardSync", "SwitchyardWire", "SwitchyardProviderHTTP",
                "SwitchyardLifeSignalStory", "SwitchyardPage", "SwitchyardReporting",
            ],
            resources: ["dependencies", "sharing", "vapor", "hummingbird", "log", "metrics"].map {
                .embedInCode("Adapters/\($0).swift.txt")
            }),

        // Tests.
        .target(
            name: "SwitchyardTestSupport",
            dependencies: [
                "Switchyard", "SwitchyardBytes", "SwitchyardProviderKit", "SwitchyardWire", "SwitchyardServerKit",
                "SwitchyardLocalSupabase",
            ],
            path: "Tests/SwitchyardTestSupport"),
        // Long runs that are done beside other tests.
        .target(
            name: "SwitchyardTestRuns", dependencies: ["SwitchyardConformance", "SwitchyardTestSupport"],
            path: "Tests/SwitchyardTestRuns"),
        .testTarget(
            name: "SwitchyardTests",
            dependencies: ["Switchyard", "SwitchyardBytes", "SwitchyardMock", "SwitchyardTestSupport"]),
        .testTarget(
            name: "SwitchyardProviderKitTests",
            dependencies: [
                "Switchyard", "SwitchyardBytes", "SwitchyardProviderKit", "SwitchyardMock", "SwitchyardTestSupport",
            ]),
        // The coders are tried on the same texts as the parser.
        .testTarget(
            name: "SwitchyardBytesTests",
            dependencies: ["SwitchyardBytes", "SwitchyardProviderKit", "SwitchyardTestSupport"]),
        .testTarget(
            name: "SwitchyardTextTests",
            dependencies: ["Switchyard", "SwitchyardBytes", "SwitchyardText", "SwitchyardTestSupport"]),
        // Compares with what else there is; `swift run -c release switchyard-bench`. No product, so its name is the program's.
        .executableTarget(
            name: "switchyard-bench",
            dependencies: [
                "Switchyard", "SwitchyardBytes", "SwitchyardWire", "SwitchyardURLSession", "SwitchyardSync",
                "SwitchyardConformance", "SwitchyardProviderKit",
                "SwitchyardMock", "SwitchyardFirebase", "SwitchyardSupabase", "SwitchyardServerKit",
                "SwitchyardLocalFirebase", "SwitchyardLocalSupabase", "SwitchyardMove",
                "SwitchyardTestSupport", .target(name: "CSwitchyardLibraries", condition: .when(platforms: [.linux])),
            ], path: "Tests/SwitchyardBench"),
        // A program of one request, for tests that need another process, and for `.ci/size`.
        .executableTarget(
            name: "SwitchyardOneRequest", dependencies: ["SwitchyardWire"], path: "Tests/SwitchyardOneRequest"),
        .testTarget(
            name: "SwitchyardWireTests",
            dependencies: [
                "SwitchyardBytes", "SwitchyardWire", "SwitchyardURLSession", "SwitchyardServerKit",
                "SwitchyardTestSupport", "SwitchyardOneRequest",
            ]),
        .testTarget(
            name: "SwitchyardSyncTests",
            dependencies: [
                "Switchyard", "SwitchyardBytes", "SwitchyardSync", "SwitchyardConformance",
                "SwitchyardTestRuns", "SwitchyardTestSupport",
            ]),
        .testTarget(
            name: "SwitchyardMockTests",
            dependencies: [
                "Switchyard", "SwitchyardMock", "SwitchyardConformance", "SwitchyardTesting",
                "SwitchyardTestRuns", "SwitchyardTestSupport",
            ]),
        .testTarget(
            name: "SwitchyardCLITests",
            dependencies: [
                "Switchyard", "SwitchyardBytes", "SwitchyardMock", "SwitchyardWire", "SwitchyardConformance",
                "SwitchyardServerKit", "SwitchyardLocalFirebase", "SwitchyardLocalSupabase", "SwitchyardFirebase",
                "SwitchyardSupabase", "SwitchyardProviderHTTP", "SwitchyardMove", "SwitchyardCLI", "SwitchyardText",
                "SwitchyardTestRuns", "SwitchyardTestSupport",
            ]),
        .testTarget(
            name: "SwitchyardObservationTests",
            dependencies: ["Switchyard", "SwitchyardMock", "SwitchyardObservation", "SwitchyardTestSupport"]),
        .testTarget(
            name: "SwitchyardReportingTests",
            dependencies: [
                "Switchyard", "SwitchyardBytes", "SwitchyardWire", "SwitchyardMock", "SwitchyardServerKit",
                "SwitchyardReporting", "SwitchyardTestSupport",
            ]),
        .testTarget(
            name: "SwitchyardMoveTests",
            dependencies: [
                "Switchyard", "SwitchyardBytes", "SwitchyardMock", "SwitchyardMove", "SwitchyardFirebase",
                "SwitchyardSupabase", "SwitchyardLocalFirebase", "SwitchyardLocalSupabase", "SwitchyardTestSupport",
            ]),
        .testTarget(
            name: "SwitchyardFirestoreSpecTests",
            dependencies: [
                "Switchyard", "SwitchyardBytes", "SwitchyardSync", "SwitchyardFirestoreFormat", "SwitchyardTestRuns",
                "SwitchyardTestSupport",
            ]),
        .testTarget(
            name: "SwitchyardFirebaseTests",
            dependencies: [
                "Switchyard", "SwitchyardBytes", "SwitchyardProviderKit", "SwitchyardWire", "SwitchyardSync",
                "SwitchyardFirestoreFormat", "SwitchyardFirebase", "SwitchyardMock",
                "SwitchyardConformance", "SwitchyardServerKit", "SwitchyardLocalFirebase", "SwitchyardTestRuns",
                "SwitchyardProviderHTTP", "SwitchyardTestSupport",
            ], exclude: ["Fixtures"]),
        .testTarget(
            name: "SwitchyardSupabaseTests",
            dependencies: [
                "Switchyard", "SwitchyardBytes", "SwitchyardProviderKit", "SwitchyardWire", "SwitchyardSync",
                "SwitchyardProviderHTTP", "SwitchyardSupabase", "SwitchyardMock", "SwitchyardFirebase",
                "SwitchyardConformance", "SwitchyardServerKit", "SwitchyardLocalSupabase", "SwitchyardTestRuns",
                "SwitchyardTestSupport",
            ]),
        .testTarget(
            name: "SwitchyardServerKitTests",
            dependencies: [
                "SwitchyardBytes", "SwitchyardWire", "SwitchyardServerKit", "SwitchyardTestSupport",
            ]),
        .testTarget(
            name: "SwitchyardLocalFirebaseTests",
            dependencies: [
                "Switchyard", "SwitchyardBytes", "SwitchyardWire", "SwitchyardServerKit", "SwitchyardLocalFirebase",
                "SwitchyardFirestoreFormat", "SwitchyardTestSupport",
            ]),
        .testTarget(
            name: "SwitchyardLocalSupabaseTests",
            dependencies: [
                "SwitchyardBytes", "SwitchyardWire", "SwitchyardServerKit", "SwitchyardLocalSupabase",
                "SwitchyardTestSupport",
            ]),
        .testTarget(
            name: "SwitchyardPageTests",
            dependencies: [
                "Switchyard", "SwitchyardBytes", "SwitchyardWire", "SwitchyardMock", "SwitchyardFirebase",
                "SwitchyardSupabase", "SwitchyardServerKit", "SwitchyardLocalFirebase", "SwitchyardLocalSupabase",
                "SwitchyardPage", "SwitchyardReporting", "SwitchyardProviderHTTP", "SwitchyardTestSupport",
            ]),
        .testTarget(
            name: "SwitchyardIntegrationTests",
            dependencies: [
                "Switchyard", "SwitchyardBytes", "SwitchyardWire", "SwitchyardSync", "SwitchyardMock",
                "SwitchyardObservation", "SwitchyardFirebase", "SwitchyardSupabase",
                "SwitchyardConformance", "SwitchyardServerKit", "SwitchyardLocalFirebase", "SwitchyardLocalSupabase",
                "SwitchyardCLI", "SwitchyardTesting", "SwitchyardTestRuns", "SwitchyardTestSupport",
            ], exclude: ["SavedState"]),
    ],
    swiftLanguageModes: [.v6],
    cLanguageStandard: .c11
)

// Xcode copies the privacy manifests of these targets into apps by itself. Elsewhere they are left out: a resource brings Foundation
// with it, which a static program would have to hold.
#if !os(macOS)
    let readsFiles = ["SwitchyardBytes", "SwitchyardWire", "SwitchyardProviderKit"]
    for target in package.targets where readsFiles.contains(target.name) {
        target.exclude.append("PrivacyInfo.xcprivacy")
    }
#endif

/// `SWITCHYARD_FUZZ=1` adds the entry for libFuzzer, which has no `main`; see `Tests/SwitchyardFuzz`.
if Context.environment["SWITCHYARD_FUZZ"] == "1" {
    package.targets.append(
        .executableTarget(
            name: "SwitchyardFuzz", dependencies: ["SwitchyardBytes", "SwitchyardWire"], path: "Tests/SwitchyardFuzz"))
}

/// `SWITCHYARD_ONLY=SwitchyardTests` leaves the tests of one target, and what they need: the bundle of all tests takes minutes to
/// build after an edit of what all import. See `Tests/README.md`.
if let only = Context.environment["SWITCHYARD_ONLY"] {
    package.targets.removeAll { $0.type == .test && $0.name != only }
}

/// `SWITCHYARD_STRICT=1` makes every warning an error, in the same single build that the tests use.
let isStrict = Context.environment["SWITCHYARD_STRICT"] == "1"

for target in package.targets where !target.name.hasPrefix("CSwitchyard") {
    target.swiftSettings =
        (target.swiftSettings ?? []) + [
            .enableUpcomingFeature("ExistentialAny"),  // SE-0335
            .enableUpcomingFeature("MemberImportVisibility"),  // SE-0444
            .enableUpcomingFeature("InternalImportsByDefault"),  // SE-0409
        ]
    if isStrict { target.swiftSettings?.append(.treatAllWarnings(as: .error)) }
}
