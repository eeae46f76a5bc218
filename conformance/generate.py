#!/usr/bin/env python3
"""Random scenarios for the vectors, one per line; README.md describes the format.

    python3 conformance/generate.py SEED COUNT [--profile plain|faults|lag|hints|mirroring|large|quirks] > scenarios.jsonl

The same seed gives the same scenarios. To be had with any Python 3; nothing else of the project needs it.
conformance/regenerate.ts --scenarios makes vectors of them.
"""

import argparse
import copy
import datetime
import json
import random

SVCNAME = "kubernetes.io/service-name"
MANAGED = "endpointslice.kubernetes.io/managed-by"
HEADLESS = "service.kubernetes.io/headless"
ESC = "endpointslice-controller.k8s.io"
MIR = "endpointslicemirroring-controller.k8s.io"
TRIG = "endpoints.kubernetes.io/last-change-trigger-time"
OVER = "endpoints.kubernetes.io/over-capacity"
EPMAN = "endpoints.kubernetes.io/managed-by"
SKIP = "endpointslice.kubernetes.io/skip-mirror"
LEADER = "control-plane.alpha.kubernetes.io/leader"
LASTAPP = "kubectl.kubernetes.io/last-applied-configuration"
ZONE = "topology.kubernetes.io/zone"
MODE = "service.kubernetes.io/topology-mode"
TAH = "service.kubernetes.io/topology-aware-hints"


def clean(d):
    """Without fields that are None."""
    return {k: v for k, v in d.items() if v is not None}


class Gen:
    """One scenario: objects and the events that change them. All choices come from one seeded generator."""

    def __init__(self, seed, profile, i):
        self.random = random.Random("%s/%s/%d" % (seed, profile, i))
        self.profile, self.number, self.seed = profile, i, seed
        self.seconds = 0
        self.uids = 0
        self.addresses = self.random.randint(1, 40)
        self.pods = 0
        self.world = {}
        self.steps = []
        self.faults = []
        self.config = {}
        self.apps = self.random.sample(["web", "api", "db", "cache"], self.random.choice([1, 1, 2, 3]))
        self.namespaces = ["ns1"] if self.chance(0.85) else ["ns1", "team-b"]
        self.families = self.random.choice(["4"] * 6 + ["6"] + ["46"] * 3 + ["64"])
        self.zones = self.random.choice([["a"], ["a", "b"], ["a", "b", "c"], ["a", "b", "c"], ["a", "b", "c", "d"]])
        self.quirks = profile == "quirks"
        self.uniform = self.chance(0.62)  # all pods offer the same ports: one port group, several slices
        self.hintable = profile == "hints" and self.chance(0.65)  # nodes and pods such that hints can be allocated

    # -- helpers
    def chance(self, p):
        """True with probability p."""
        return self.random.random() < p

    def pick(self, *pairs):
        """One of (value, weight) pairs."""
        vs, ws = zip(*pairs)
        return self.random.choices(vs, ws)[0]

    def now(self, lo=1, hi=40):
        """The scenario's time, a little later than at the previous call."""
        self.seconds += self.random.randint(lo, hi)
        return (datetime.datetime(2024, 1, 1) + datetime.timedelta(seconds=self.seconds)).strftime("%Y-%m-%dT%H:%M:%SZ")

    def uid(self, k):
        """A uid that contains its number and kind."""
        self.uids += 1
        return "%08x-%04x-4%03x-8000-%012x" % (
            self.random.getrandbits(32),
            self.uids,
            len(k),
            self.random.getrandbits(48),
        )

    def meta(self, kind, ns, name, **kw):
        """Metadata of a new object."""
        m = {
            "name": name,
            "uid": self.uid(kind),
            "resourceVersion": str(100 + self.uids),
            "creationTimestamp": self.now(),
        }
        if ns:
            m["namespace"] = ns
        m.update(clean(kw))
        return m

    def key(self, o):
        """The key of an object."""
        return (o["kind"], o["metadata"].get("namespace", ""), o["metadata"]["name"])

    def put(self, o):
        """Adds an object."""
        self.world[self.key(o)] = o
        return o

    def of(self, kind, ns=None):
        """All objects of a kind."""
        return [o for k, o in self.world.items() if k[0] == kind and (ns is None or k[1] == ns)]

    def step(self, **kw):
        """Adds a step; occasionally one that does not run, or runs later."""
        if self.profile == "lag" and self.chance(0.3) and kw["op"] in ("apply", "delete"):
            kw["run"] = False
        elif self.chance(0.1) and kw["op"] in ("apply", "delete"):
            kw["run"] = False
        if self.chance(0.12):
            kw["forMs"] = self.random.choice([500, 1500, 10000, 600000])
        self.steps.append(kw)

    def apply(self, o):
        """A step that creates or replaces an object."""
        self.put(o)
        self.step(op="apply", object=copy.deepcopy(o))

    def delete(self, o):
        """A step that deletes an object; occasionally the watch misses it."""
        self.world.pop(self.key(o), None)
        kw = {
            "op": "delete",
            "object": {
                "kind": o["kind"],
                "metadata": clean({"name": o["metadata"]["name"], "namespace": o["metadata"].get("namespace")}),
            },
        }
        if self.chance(0.1):
            kw["tombstone"] = True
        self.step(**kw)

    # -- addresses
    def ips(self):
        """Addresses of a Pod, in the families of the scenario."""
        self.addresses += self.random.choice([1, 1, 1, 2, 7])
        n = self.addresses
        v4, v6 = "10.244.%d.%d" % (n // 250, n % 250 + 1), "fd00:10:244::%x" % n
        f = self.families
        if self.chance(0.06):
            f = self.random.choice(["4", "6", "46", "64", ""])
        if self.quirks and self.chance(0.12):
            return [
                self.random.choice(
                    [
                        "010.244.%03d.%03d" % (n // 250, n % 250 + 1),
                        "::ffff:10.244.9.%d" % (n % 250),
                        "not-an-ip",
                        "FD00:10:244:0:0:0:0:%X" % n,
                    ]
                )
            ]
        if self.chance(0.04) and self.of("Pod"):
            o = self.random.choice(self.of("Pod"))["status"].get("podIPs")
            if o:
                return [x["ip"] for x in o]
        return [{"4": v4, "6": v6}[c] for c in f]

    # -- services
    def labels(self, reserved=True):
        """Labels of a Service, occasionally reserved ones."""
        l = {}
        for k, vs in (("env", ["prod", "dev"]), ("team", ["x", "y", ""]), ("release", ["r1", "r2"])):
            if self.chance(0.25):
                l[k] = self.random.choice(vs)
        if reserved and self.chance(0.07 if not self.quirks else 0.25):
            l[self.random.choice([SVCNAME, MANAGED, HEADLESS, EPMAN])] = self.random.choice(["", "me", "zz"])
        return l or None

    def sports(self, headless, n=None):
        """Ports of a Service."""
        n = self.pick((0, 1 if headless or self.quirks else 0), (1, 6), (2, 4), (3, 2), (4, 1)) if n is None else n
        out = []
        names = self.random.sample(["http", "https", "metrics", "dns", "dns-tcp", "grpc"], n)
        for nm in names:
            proto = {"dns": "UDP"}.get(nm) or self.pick(("TCP", 12), ("UDP", 1), ("SCTP", 1))
            num = {"http": 80, "https": 443, "metrics": 9100, "dns": 53, "dns-tcp": 53, "grpc": 50051}[nm]
            tp = self.pick(
                (num + self.random.choice([0, 1000, 8000]), 6),
                ("p-" + nm.split("-")[0], 3),
                ("nope", 0.3 if not self.uniform else 0.05),
            )
            p = {"protocol": proto, "port": num, "targetPort": tp, "name": nm}
            if self.chance(0.2):
                p["appProtocol"] = self.random.choice(["http", "https", "kubernetes.io/h2c"])
            if n == 1 and self.chance(0.35):
                p.pop("name")
            out.append(p)
        if self.quirks and len(out) > 1 and self.chance(0.2):
            out[1]["name"] = out[0].get("name", "http")
            out[1]["protocol"] = "UDP"
        return out

    def fams(self):
        """The address families of a Service."""
        f = self.families
        if self.chance(0.12):
            f = self.random.choice(["4", "6", "46", "64"])
        return [{"4": "IPv4", "6": "IPv6"}[c] for c in f]

    def service(self, ns, name, app):
        """A Service that selects the Pods of an app."""
        typ = self.pick(
            ("ClusterIP", 76), ("headless", 13), ("empty", 2), ("ExternalName", 4), ("NodePort", 3), ("LoadBalancer", 2)
        )
        sel = self.pick(({"app": app}, 82), ({"app": app, "tier": "t1"}, 8), (None, 4), ({}, 2), ({"app": "nobody"}, 3))
        if self.profile in ("hints", "large"):
            typ, sel = self.pick(("ClusterIP", 9), ("headless", 1)), {"app": app}
        m = self.meta(
            "Service", ns, name, labels=self.labels(), annotations={"note": "n1"} if self.chance(0.1) else None
        )
        fams = self.fams()
        spec = {
            "ports": self.sports(typ == "headless"),
            "ipFamilies": fams,
            "type": "ClusterIP" if typ in ("headless", "empty") else typ,
        }
        if sel is not None:
            spec["selector"] = sel
        n = self.random.randint(1, 200)
        if typ == "headless":
            spec["clusterIP"] = "None"
        elif typ == "ExternalName":
            spec["externalName"] = "ext.example.com"
            spec.pop("ipFamilies")
        elif typ != "empty":
            spec["clusterIPs"] = ["10.96.0.%d" % n if f == "IPv4" else "fd00:96::%x" % n for f in fams]
            spec["clusterIP"] = spec["clusterIPs"][0]
            if len(fams) > 1:
                spec["ipFamilyPolicy"] = "RequireDualStack"
        if self.chance(0.06 if not self.quirks else 0.2):
            spec.pop("ipFamilies", None)
        if self.chance(0.12):
            spec["publishNotReadyAddresses"] = True
        if self.chance(0.02 if not self.quirks else 0.08):
            m["deletionTimestamp"] = self.now()
            m["finalizers"] = ["example.com/hold"]
        if self.profile == "hints":
            self.hintset(m, spec, True)
        elif self.chance(0.06):
            self.hintset(m, spec, False)
        return {"kind": "Service", "apiVersion": "v1", "metadata": m, "spec": spec}

    def hintset(self, m, spec, strong):
        """Ways to enable hints."""
        a = m.setdefault("annotations", {})
        for k in (MODE, TAH):
            a.pop(k, None)
        spec.pop("trafficDistribution", None)
        x = self.pick(("auto", 5), ("td", 5), ("both", 1), ("none", 1 if strong else 2))
        if x in ("auto", "both"):
            if self.chance(0.8):
                a[MODE] = self.random.choice(["Auto", "Auto", "auto", "Disabled", "PreferZone"])
            if self.chance(0.25):
                a[TAH] = self.random.choice(["Auto", "auto", "Disabled", ""])
            if strong and self.chance(0.7):
                a[MODE] = "Auto"
                a.pop(TAH, None)
        if x in ("td", "both"):
            spec["trafficDistribution"] = self.random.choice(
                ["PreferClose", "PreferSameZone", "PreferSameNode", "PreferSameNode"]
                + (["Bogus"] if self.quirks else [])
            )
        if not a:
            m.pop("annotations")

    # -- pods and nodes
    def pod(self, ns, app, plain=False):
        """A Pod of an app."""
        self.pods += 1
        r = self.random
        name = "%s-%d" % (app, self.pods)
        lab = {"app": app}
        if self.chance(0.6):
            lab["tier"] = r.choice(["t1", "t2"])
        m = self.meta("Pod", ns, name, labels=lab)
        nodes = [o["metadata"]["name"] for o in self.of("Node")]
        spec = {
            "nodeName": (
                (nodes[self.pods % len(nodes)] if self.hintable and self.chance(0.8) else r.choice(nodes))
                if nodes
                else "n1"
            )
        }
        cports = [
            {"name": "p-" + k, "containerPort": v + (0 if self.chance(0.85) else 1), "protocol": "TCP"}
            for k, v in (("http", 8080), ("https", 8443), ("grpc", 50051))
            if self.chance(0.8)
        ]
        c2 = (
            [{"name": "p-dns", "containerPort": 5353, "protocol": r.choice(["UDP", "TCP"])}] if self.chance(0.7) else []
        )
        if self.profile == "large" or plain or self.uniform:
            cports, c2 = [
                {"name": "p-" + k, "containerPort": 8000 + j, "protocol": "TCP"}
                for j, k in enumerate(["http", "https", "grpc"])
            ], []
        spec["containers"] = [{"name": "main", "image": "img", "ports": cports}] + (
            [{"name": "aux", "image": "img", "ports": c2}] if c2 else []
        )
        if self.chance(0.3) and self.profile != "large" and not self.uniform:
            ic = {
                "name": "sc",
                "image": "img",
                "ports": [{"name": "p-metrics", "containerPort": 9100, "protocol": "TCP"}],
            }
            if self.chance(0.8):
                ic["restartPolicy"] = "Always"
            spec["initContainers"] = [ic]
        if self.chance(0.12):
            spec["hostname"] = "h-" + name
        if self.chance(0.12):
            spec["subdomain"] = r.choice(["web", "api", "svc-web", "other"])
        st = {"phase": "Running"}
        ips = self.ips()
        o = {"kind": "Pod", "apiVersion": "v1", "metadata": m, "spec": spec, "status": st}
        if not plain:
            if self.chance(0.02):
                spec["nodeName"] = r.choice(["late-1", "late-2"])
            if self.chance(0.05):
                st["phase"] = r.choice(["Pending", "Succeeded", "Failed"])
            if st["phase"] == "Pending" and self.chance(0.6):
                ips = []
                spec.pop("nodeName")
            if self.chance(0.06):
                m["deletionTimestamp"] = self.now()
                m["deletionGracePeriodSeconds"] = 30
        if ips:
            st["podIP"] = ips[0]
            st["podIPs"] = [{"ip": x} for x in ips]
        if self.chance(0.02):
            st.pop("podIPs", None)
        self.cond(o, st["phase"] == "Running" and (plain and self.chance(0.9) or self.chance(0.8)))
        return o

    def cond(self, pod, ready):
        """Conditions of a Pod."""
        if self.chance(0.02):
            pod["status"].pop("conditions", None)
            return
        pod["status"]["conditions"] = (
            [{"type": "PodScheduled", "status": "True", "lastTransitionTime": self.now(0, 2)}]
            if self.chance(0.2)
            else []
        ) + [
            {
                "type": "Ready",
                "status": "True" if ready else self.random.choice(["False", "False", "Unknown"]),
                "lastTransitionTime": self.now(),
            }
        ]

    def ready(self, p):
        """Whether a Pod is ready."""
        return any(c["type"] == "Ready" and c["status"] == "True" for c in p["status"].get("conditions", []))

    def node(self, name, zone=None, strong=False):
        """A Node."""
        l = {"kubernetes.io/hostname": name}
        if zone is None:
            zone = self.random.choice(self.zones)
        if self.hintable:
            l[ZONE] = zone
            return {
                "kind": "Node",
                "apiVersion": "v1",
                "metadata": self.meta("Node", None, name, labels=l),
                "status": {
                    "allocatable": {"cpu": self.random.choice(["4", "4", "4", "4", "6"])},
                    "conditions": [{"type": "Ready", "status": "True"}],
                },
            }
        if not self.chance(0.15 if self.profile == "hints" else 0.05):
            l[ZONE] = zone if not self.chance(0.03) else ""
        if self.chance(0.07):
            l["node-role.kubernetes.io/" + self.random.choice(["control-plane", "master"])] = ""
        cpu = self.random.choice(["4", "4", "4", "2", "8", "3500m", "16"]) if self.chance(0.6) else "4"
        st = {
            "allocatable": {"cpu": cpu, "memory": "8Gi"},
            "conditions": [{"type": "Ready", "status": "False" if self.chance(0.05) else "True"}],
        }
        if self.chance(0.02):
            st["allocatable"].pop("cpu")
        return {"kind": "Node", "apiVersion": "v1", "metadata": self.meta("Node", None, name, labels=l), "status": st}

    # -- existing slices / endpoints
    def matches(self, s):
        """Pods that a Service selects."""
        sel = s["spec"].get("selector")
        if sel is None:
            return []
        return [
            p
            for p in self.of("Pod", s["metadata"]["namespace"])
            if all(p["metadata"].get("labels", {}).get(k) == v for k, v in sel.items())
        ]

    def sport(self, p, pod):
        """Ports of a slice as a Pod offers them."""
        tp = p["targetPort"]
        if isinstance(tp, int):
            return tp
        cs = pod["spec"]["containers"] + [
            c for c in pod["spec"].get("initContainers", []) if c.get("restartPolicy") == "Always"
        ]
        for c in cs:
            for q in c.get("ports", []):
                if q["name"] == tp and q["protocol"] == p["protocol"]:
                    return q["containerPort"]

    def endpoint(self, s, p, fam):
        """The endpoint that upstream creates for a Pod."""
        nodes = {o["metadata"]["name"]: o for o in self.of("Node")}
        addrs = [x["ip"] for x in p["status"].get("podIPs", []) if (":" in x["ip"]) == (fam == "IPv6")]
        if not addrs or p["status"]["phase"] in ("Succeeded", "Failed"):
            return None
        pub = bool(s["spec"].get("publishNotReadyAddresses"))
        term = "deletionTimestamp" in p["metadata"]
        sv = self.ready(p)
        e = {
            "addresses": addrs,
            "conditions": {"ready": pub or (sv and not term), "serving": sv, "terminating": term},
            "targetRef": {
                "kind": "Pod",
                "namespace": p["metadata"]["namespace"],
                "name": p["metadata"]["name"],
                "uid": p["metadata"]["uid"],
            },
        }
        nn = p["spec"].get("nodeName")
        if nn:
            e["nodeName"] = nn
            if nn not in nodes and not pub:
                return None
            z = nodes.get(nn, {}).get("metadata", {}).get("labels", {}).get(ZONE)
            if z:
                e["zone"] = z
        if p["spec"].get("hostname") and p["spec"].get("subdomain") == s["metadata"]["name"]:
            e["hostname"] = p["spec"]["hostname"]
        return e

    def slice_labels(self, s, by=ESC):
        """Labels of a slice as upstream writes them."""
        l = {k: v for k, v in (s["metadata"].get("labels") or {}).items() if k not in (SVCNAME, MANAGED, HEADLESS)}
        l[SVCNAME] = s["metadata"]["name"]
        l[MANAGED] = by
        if by == ESC and s["spec"].get("clusterIP", "") in ("", "None"):
            l[HEADLESS] = ""
        return l

    def owner(self, o):
        """The owner reference to an object."""
        return [
            {
                "apiVersion": "v1",
                "kind": o["kind"],
                "name": o["metadata"]["name"],
                "uid": o["metadata"]["uid"],
                "controller": True,
                "blockOwnerDeletion": True,
            }
        ]

    def mkslice(self, s, fam, ports, eps, tag):
        """A slice."""
        return {
            "kind": "EndpointSlice",
            "apiVersion": "discovery.k8s.io/v1",
            "metadata": self.meta(
                "EndpointSlice",
                s["metadata"]["namespace"],
                "%s-%s" % (s["metadata"]["name"], tag),
                labels=self.slice_labels(s),
                ownerReferences=self.owner(s),
                generation=self.random.choice([1, 1, 2, 5]),
                generateName=s["metadata"]["name"] + "-",
            ),
            "addressType": fam,
            "endpoints": eps,
            "ports": ports,
        }

    def existing(self, s):
        """Slices of service s that exist before the start: correct ones, and ones that need repair."""
        r = self.random
        fams = s["spec"].get("ipFamilies") or ["IPv4"]
        mx = self.config["maxEndpointsPerSlice"]
        n = 0
        tags = iter("abcdefghijklmnopqrstuvwxyz0123456789" * 50)
        cnt = iter(range(10**6))

        def tag():
            i = next(cnt)
            return "x%s%03d" % (r.choice("bcdfg"), i)

        for fam in fams:
            groups = {}
            pods = self.matches(s)
            for p in pods:
                e = self.endpoint(s, p, fam)
                if not e:
                    continue
                ports = []
                for sp in s["spec"].get("ports", []):
                    num = self.sport(sp, p)
                    if num is not None:
                        ports.append(
                            clean(
                                {
                                    "name": sp.get("name", ""),
                                    "port": num,
                                    "protocol": sp["protocol"],
                                    "appProtocol": sp.get("appProtocol"),
                                }
                            )
                        )
                groups.setdefault(json.dumps(ports), []).append(e)
            mode = self.pick(("exact", 4), ("partial", 4), ("dirty", 4))
            for pj, eps in groups.items():
                ports = json.loads(pj)
                if self.chance(0.4):
                    r.shuffle(ports)
                if mode != "exact":
                    eps = [e for e in eps if not self.chance(0.2)]
                while eps:
                    k = r.randint(1, mx) if mode != "exact" or self.chance(0.3) else mx
                    part, eps = eps[:k], eps[k:]
                    sl = self.mkslice(s, fam, ports, part, tag())
                    if mode == "dirty":
                        for e in part:
                            if self.chance(0.1):
                                e["conditions"]["ready"] = not e["conditions"]["ready"]
                            if self.chance(0.06):
                                e["nodeName"] = "n-old"
                            if self.chance(0.06):
                                e["targetRef"]["uid"] = self.uid("old")
                            if self.chance(0.05):
                                e["addresses"] = [
                                    (
                                        "10.250.0.%d" % r.randint(1, 99)
                                        if fam == "IPv4"
                                        else "fd00:99::%x" % r.randint(1, 99)
                                    )
                                ]
                            if self.chance(0.04):
                                e["targetRef"]["name"] = "gone-%d" % r.randint(1, 9)
                        if self.chance(0.1):
                            part.append(copy.deepcopy(part[0]))
                    if self.profile == "hints" or self.chance(0.05):
                        for e in part:
                            x = self.pick(("right", 6), ("wrong", 1), ("two", 0.5), ("none", 1), ("node", 1))
                            z = e.get("zone", "a")
                            if x == "right":
                                e["hints"] = {"forZones": [{"name": z}]}
                            if x == "wrong":
                                e["hints"] = {"forZones": [{"name": r.choice(self.zones + ["zz"])}]}
                            if x == "two":
                                e["hints"] = {"forZones": [{"name": z}, {"name": "a"}]}
                            if x == "node":
                                e["hints"] = {
                                    "forZones": [{"name": z}],
                                    "forNodes": [{"name": e.get("nodeName", "n1")}],
                                }
                    self.decorate(sl, mode)
                    self.put(sl)
                    n += 1
            if mode == "dirty":
                for _ in range(r.choice([0, 1, 1, 2])):
                    kind = r.choice(
                        [
                            "otheruid",
                            "noowner",
                            "othermgr",
                            "wrongfam",
                            "fqdn",
                            "oldports",
                            "empty",
                            "deleting",
                            "dup",
                            "placeholder",
                        ]
                    )
                    ps = [
                        clean({"name": sp.get("name", ""), "port": sp["port"], "protocol": sp["protocol"]})
                        for sp in s["spec"].get("ports", [])
                    ]
                    allp = [e for p in pods for e in [self.endpoint(s, p, fam)] if e]
                    sl = self.mkslice(s, fam, ps, allp[: r.randint(0, min(mx, 4))], tag())
                    if kind == "otheruid":
                        sl["metadata"]["ownerReferences"][0]["uid"] = self.uid("o")
                    if kind == "noowner":
                        sl["metadata"].pop("ownerReferences")
                    if kind == "othermgr":
                        sl["metadata"]["labels"][MANAGED] = "example.com/custom"
                    if kind == "wrongfam":
                        sl["addressType"] = "IPv6" if fam == "IPv4" else "IPv4"
                        sl["endpoints"] = []
                    if kind == "fqdn":
                        sl["addressType"] = "FQDN"
                        sl["endpoints"] = [{"addresses": ["a.example.com"]}]
                    if kind == "oldports":
                        sl["ports"] = [{"name": "old", "port": 1, "protocol": "TCP"}]
                    if kind == "empty":
                        sl["endpoints"] = []
                    if kind == "deleting":
                        sl["metadata"]["deletionTimestamp"] = self.now()
                        sl["metadata"]["finalizers"] = ["example.com/x"]
                    if kind == "placeholder":
                        sl["endpoints"], sl["ports"] = [], []
                    self.decorate(sl, "x")
                    self.put(sl)
            elif not groups and self.chance(0.6):
                self.put(self.mkslice(s, fam, [], [], tag()))

    def decorate(self, sl, mode):
        """Changes a slice in one way."""
        m = sl["metadata"]
        if self.chance(0.12):
            m["labels"]["user"] = "u1"
        if self.chance(0.1):
            m.setdefault("annotations", {})["user.example.com/x"] = "1"
        if self.chance(0.25):
            m.setdefault("annotations", {})[TRIG] = self.now()
        if self.chance(0.06):
            m["labels"].pop(HEADLESS, None)

    def subsets_for(self, s):
        """Subsets that upstream creates for a Service's Pods."""
        ready, nr = [], []
        fam = (s["spec"].get("ipFamilies") or ["IPv4"])[0]
        for p in self.matches(s):
            ip = next((x["ip"] for x in p["status"].get("podIPs", []) if (":" in x["ip"]) == (fam == "IPv6")), None)
            if not ip or p["status"]["phase"] in ("Succeeded", "Failed") or "deletionTimestamp" in p["metadata"]:
                continue
            a = {
                "ip": ip,
                "nodeName": p["spec"].get("nodeName", ""),
                "targetRef": {
                    "kind": "Pod",
                    "namespace": p["metadata"]["namespace"],
                    "name": p["metadata"]["name"],
                    "uid": p["metadata"]["uid"],
                },
            }
            if self.chance(0.1):
                a["targetRef"]["resourceVersion"] = "77"
            (ready if self.ready(p) else nr).append(a)
        ready.sort(key=lambda a: a["ip"])
        nr.sort(key=lambda a: a["ip"])
        ports = [
            clean(
                {
                    "name": sp.get("name"),
                    "port": sp["targetPort"] if isinstance(sp["targetPort"], int) else 8080,
                    "protocol": sp["protocol"],
                    "appProtocol": sp.get("appProtocol"),
                }
            )
            for sp in s["spec"].get("ports", [])
        ]
        if self.chance(0.3):
            self.random.shuffle(ports)
            self.random.shuffle(ready)
        if not (ready or nr):
            return self.random.choice([[], None])
        if len(ports) > 1 and self.chance(0.3):
            return [clean({"addresses": ready or None, "notReadyAddresses": nr or None, "ports": [p]}) for p in ports]
        return [clean({"addresses": ready or None, "notReadyAddresses": nr or None, "ports": ports or None})]

    def existing_ep(self, s):
        """Endpoints that exist before the start."""
        m = self.meta("Endpoints", s["metadata"]["namespace"], s["metadata"]["name"])
        l = dict(s["metadata"].get("labels") or {})
        if not self.chance(0.15):
            l[EPMAN] = "endpoint-controller"
        if self.chance(0.1):
            l[EPMAN] = "other"
        if s["spec"].get("clusterIP", "") in ("", "None") or self.chance(0.05):
            l[HEADLESS] = ""
        if self.chance(0.15):
            l["user"] = "u"
        m["labels"] = l
        a = {}
        if self.chance(0.3):
            a[TRIG] = self.now()
        if self.chance(0.15):
            a["user.example.com/x"] = "1"
        if self.chance(0.1):
            a[OVER] = self.random.choice(["truncated", "warning"])
        if self.chance(0.06):
            a[LEADER] = "{}"
        if a:
            m["annotations"] = a
        ss = self.subsets_for(s)
        if self.chance(0.15):
            ss = [{"addresses": [{"ip": "10.250.1.1"}], "ports": [{"port": 1, "protocol": "TCP"}]}]
        return clean({"kind": "Endpoints", "apiVersion": "v1", "metadata": m, "subsets": ss})

    # -- custom endpoints (mirroring)
    def caddr(self):
        """An address of custom Endpoints."""
        r = self.random
        n = r.randint(1, 60)
        fam = self.families if len(self.families) == 1 else r.choice("46")
        ip = "10.9.0.%d" % n if fam == "4" else "fd00:9::%x" % n
        if self.chance(0.06):
            ip = r.choice(["not-an-ip", "010.9.0.%d" % n, "::ffff:10.9.0.%d" % n, "300.1.1.1", "FD00:9::%X" % n])
        a = {"ip": ip}
        if self.chance(0.2):
            a["hostname"] = "h%d" % r.randint(1, 5)
        if self.chance(0.2):
            a["nodeName"] = r.choice(["n1", "n2"])
        if self.chance(0.2):
            a["targetRef"] = {"kind": "Pod", "namespace": "ns1", "name": "ext-%d" % n, "uid": "ext-uid-%d" % n}
        return a

    def csubsets(self, mx):
        """Subsets of custom Endpoints."""
        r = self.random
        out = []
        for _ in range(self.pick((0, 1), (1, 6), (2, 4), (3, 2))):
            k = (
                self.pick((0, 1), (1, 3), (2, 3), (3, 2), (mx, 1), (mx + 1, 1.5), (2 * mx, 0.7))
                if mx < 50
                else r.randint(0, 6)
            )
            ad, nr, seen = [], [], set()
            for _ in range(k):
                a = self.caddr()
                if a["ip"] in seen and not self.quirks:
                    continue
                seen.add(a["ip"])
                (nr if self.chance(0.25) else ad).append(a)
            ports = []
            for nm in r.sample(["http", "https", "dns"], self.pick((0, 1), (1, 6), (2, 3), (3, 1))):
                p = {"name": nm, "port": r.choice([80, 443, 8080, 53]), "protocol": r.choice(["TCP", "TCP", "UDP"])}
                if self.chance(0.15):
                    p["appProtocol"] = "http"
                ports.append(p)
            if len(ports) == 1 and self.chance(0.3):
                ports[0].pop("name")
            if out and self.chance(0.35):
                ports = copy.deepcopy(out[0].get("ports", []))
            if out and self.chance(0.2):
                ad = copy.deepcopy(out[0].get("addresses", []))
            ss = clean({"addresses": ad or None, "notReadyAddresses": nr or None, "ports": ports or None})
            if ss:
                out.append(ss)
        return out

    def cep(self, ns, name, mx, base=None):
        """Custom Endpoints."""
        if base:
            m = copy.deepcopy(base["metadata"])
        else:
            m = self.meta("Endpoints", ns, name)
        l, a = dict(self.labels(False) or {}), {}
        if self.chance(0.06):
            l[SKIP] = self.random.choice(["true", "true", "false", "True"])
        if self.chance(0.03 if not self.quirks else 0.15):
            l[self.random.choice([SVCNAME, MANAGED])] = "custom"
        if self.chance(0.05):
            l[HEADLESS] = ""
        if self.chance(0.2):
            a["user.example.com/x"] = self.random.choice("123")
        if self.chance(0.12):
            a[LASTAPP] = "{}"
        if self.chance(0.12):
            a[TRIG] = self.now()
        if self.chance(0.05):
            a[OVER] = "truncated"
        if self.chance(0.04):
            a[LEADER] = "{}"
        m.pop("labels", None)
        m.pop("annotations", None)
        if l:
            m["labels"] = l
        if a:
            m["annotations"] = a
        return clean(
            {
                "kind": "Endpoints",
                "apiVersion": "v1",
                "metadata": m,
                "subsets": self.csubsets(mx) or self.random.choice([None, []]),
            }
        )

    def mirrored(self, e, mx):
        """Mirrored slices that exist before the start, as a previous run may have left them."""
        r = self.random
        by = {}
        for ss in e.get("subsets") or []:
            for a in (ss.get("addresses") or [])[:mx]:
                fam = "IPv6" if ":" in a["ip"] else "IPv4"
                ports = [
                    clean(
                        {
                            "name": p.get("name", ""),
                            "port": p["port"],
                            "protocol": p["protocol"],
                            "appProtocol": p.get("appProtocol"),
                        }
                    )
                    for p in ss.get("ports", [])
                ]
                x = {"addresses": [a["ip"]], "conditions": {"ready": True}}
                for k in ("hostname", "nodeName", "targetRef"):
                    if k in a:
                        x[k] = a[k]
                by.setdefault((fam, json.dumps(ports)), []).append(x)
        n = 0
        for (fam, pj), eps in by.items():
            for _ in range(self.pick((1, 8), (2, 1.2))):
                n += 1
                l = dict(e["metadata"].get("labels") or {})
                l[SVCNAME] = e["metadata"]["name"]
                l[MANAGED] = MIR
                if self.chance(0.1):
                    l["user"] = "u"
                sl = {
                    "kind": "EndpointSlice",
                    "apiVersion": "discovery.k8s.io/v1",
                    "metadata": self.meta(
                        "EndpointSlice",
                        e["metadata"]["namespace"],
                        "%s-m%d" % (e["metadata"]["name"], n),
                        labels=l,
                        ownerReferences=self.owner(e),
                        generateName=e["metadata"]["name"] + "-",
                        generation=1,
                    ),
                    "addressType": fam,
                    "endpoints": [copy.deepcopy(x) for x in eps if not self.chance(0.1)],
                    "ports": json.loads(pj),
                }
                if self.chance(0.15):
                    sl["metadata"]["ownerReferences"][0]["uid"] = self.uid("o")
                if self.chance(0.15):
                    sl["ports"] = [{"name": "old", "port": 7, "protocol": "TCP"}]
                if self.chance(0.08):
                    sl["metadata"]["annotations"] = {"user.example.com/x": "1"}
                if self.chance(0.06):
                    sl["metadata"]["deletionTimestamp"] = self.now()
                    sl["metadata"]["finalizers"] = ["example.com/x"]
                if self.chance(0.05):
                    sl["addressType"] = "FQDN"
                    sl["endpoints"] = [{"addresses": ["a.example.com"]}]
                self.put(sl)

    # -- faults
    def fault(self, ctl):
        """Requests that fail."""
        res = "endpoints" if ctl == "endpoints" else "endpointslices"
        return {
            "verb": self.pick(("create", 4), ("update", 5), ("delete", 3)),
            "resource": res,
            "error": self.random.choice(
                [
                    "conflict",
                    "notfound",
                    "alreadyexists",
                    "forbidden",
                    "forbiddenTerminating",
                    "forbiddenTerminating",
                    "internal",
                ]
            ),
            "times": self.pick((1, 6), (2, 3), (4, 1), (20, 0.4)),
        }

    # -- steps
    def pod_step(self, plain=False):
        """An event of a Pod."""
        r = self.random
        pods = self.of("Pod")
        ns = self.namespaces[0]
        if not pods:
            return self.apply(self.pod(ns, r.choice(self.apps)))
        p = copy.deepcopy(r.choice(pods))
        m = p["metadata"]
        x = self.pick(
            ("ready", 5),
            ("add", 5),
            ("del", 4),
            ("term", 3),
            ("lab", 2.5),
            ("ip", 1.2),
            ("rebirth", 1.5),
            ("phase", 1),
            ("noop", 0.8),
            ("host", 0.8),
            ("node", 0.5),
            ("uidswap", 0.6),
            ("nolab", 0.3),
            ("replace", 1),
            ("ports", 0.4 if not self.uniform else 0.05),
        )
        if x == "ready":
            self.cond(p, not self.ready(p))
        elif x == "add":
            for _ in range(self.pick((1, 6), (2, 2), (3, 1), (min(self.config["maxEndpointsPerSlice"], 5), 1))):
                self.apply(self.pod(r.choice(self.namespaces), r.choice(self.apps), plain))
            return
        elif x == "del":
            return self.delete(p)
        elif x == "term":
            if "deletionTimestamp" not in m:
                m["deletionTimestamp"] = self.now()
                m["deletionGracePeriodSeconds"] = 30
            if self.chance(0.3):
                self.cond(p, False)
        elif x == "lab":
            l = m.setdefault("labels", {})
            l["app"] = r.choice(self.apps + ["nobody", "quarantine"]) if self.chance(0.7) else l.get("app", "web")
            if self.chance(0.4):
                l["tier"] = r.choice(["t1", "t2"])
            if self.chance(0.2):
                self.cond(p, not self.ready(p))
        elif x == "nolab":
            m.pop("labels", None)
        elif x == "ip":
            ips = self.ips()
            p["status"].pop("podIP", None)
            p["status"].pop("podIPs", None)
            if ips:
                p["status"]["podIP"] = ips[0]
                p["status"]["podIPs"] = [{"ip": i} for i in ips]
        elif x in ("rebirth", "uidswap"):
            if x == "rebirth":
                self.delete(p)
            m["uid"] = self.uid("Pod")
            m["creationTimestamp"] = self.now()
            m.pop("deletionTimestamp", None)
            m.pop("deletionGracePeriodSeconds", None)
            if self.chance(0.5):
                ips = self.ips()
                p["status"]["podIPs"] = [{"ip": i} for i in ips]
                if ips:
                    p["status"]["podIP"] = ips[0]
            self.cond(p, True)
        elif x == "phase":
            p["status"]["phase"] = r.choice(["Succeeded", "Failed", "Running"])
            if self.chance(0.6):
                self.cond(p, p["status"]["phase"] == "Running")
        elif x == "noop":
            m.setdefault("annotations", {})["touched"] = str(self.seconds)
        elif x == "host":
            p["spec"]["hostname"] = "h2-" + m["name"]
            p["spec"]["subdomain"] = r.choice([s["metadata"]["name"] for s in self.of("Service")] or ["web"])
        elif x == "node":
            ns_ = [o["metadata"]["name"] for o in self.of("Node")]
            if ns_:
                p["spec"]["nodeName"] = r.choice(ns_)
            self.cond(p, not self.ready(p))
        elif x == "ports":
            for c in p["spec"]["containers"]:
                for q in c.get("ports", []):
                    q["containerPort"] += 1
            self.cond(p, not self.ready(p))
        elif x == "replace":  # a rolling update: one gone, one new
            self.delete(p)
            return self.apply(self.pod(m["namespace"], (m.get("labels") or {}).get("app", self.apps[0]), True))
        self.apply(p)

    def svc_step(self):
        """An event of a Service."""
        r = self.random
        ss = self.of("Service")
        if not ss:
            return self.apply(self.service(self.namespaces[0], r.choice(["web", "api"]), self.apps[0]))
        s = copy.deepcopy(r.choice(ss))
        m, sp = s["metadata"], s["spec"]
        x = self.pick(
            ("labels", 3),
            ("ports", 3),
            ("sel", 2),
            ("null", 1.5),
            ("fam", 1.5),
            ("del", 2),
            ("deleting", 0.8),
            ("pub", 1.2),
            ("hint", 5 if self.profile == "hints" else 1),
            ("headless", 0.8),
            ("type", 0.7),
            ("add", 1.2),
            ("rebirth", 0.7),
            ("noop", 0.7),
        )
        if x == "labels":
            m.pop("labels", None)
            l = self.labels()
            if l:
                m["labels"] = l
        elif x == "ports":
            if sp.get("ports") and self.chance(0.5):
                q = r.choice(sp["ports"])
                q["targetPort"] = r.choice([8081, 9090, "p-http", "p-grpc", "nope", "p-metrics"])
            else:
                sp["ports"] = self.sports(sp.get("clusterIP") == "None")
        elif x == "sel":
            sp["selector"] = (
                {"app": r.choice(self.apps)}
                if self.chance(0.6)
                else {"app": self.apps[0], "tier": r.choice(["t1", "t2"])}
            )
        elif x == "null":
            if "selector" in sp:
                sp.pop("selector")
            else:
                sp["selector"] = {"app": self.apps[0]}
        elif x == "fam":
            f = r.choice([["IPv4"], ["IPv6"], ["IPv4", "IPv6"], ["IPv6", "IPv4"]])
            sp["ipFamilies"] = f
            if sp.get("clusterIP") not in (None, "", "None"):
                sp["clusterIP"] = "10.96.1.9" if f[0] == "IPv4" else "fd00:96::19"
                sp["clusterIPs"] = [sp["clusterIP"]]
        elif x == "del":
            return self.delete(s)
        elif x == "deleting":
            m["deletionTimestamp"] = self.now()
            m["finalizers"] = ["example.com/hold"]
        elif x == "pub":
            sp["publishNotReadyAddresses"] = not sp.get("publishNotReadyAddresses", False)
        elif x == "hint":
            self.hintset(m, sp, self.profile == "hints")
        elif x == "headless":
            sp["clusterIP"] = (
                "None"
                if sp.get("clusterIP") != "None"
                else ("10.96.2.2" if (sp.get("ipFamilies") or ["IPv4"])[0] == "IPv4" else "fd00:96::22")
            )
            sp["clusterIPs"] = [sp["clusterIP"]]
        elif x == "type":
            if sp.get("type") == "ExternalName":
                sp["type"] = "ClusterIP"
                sp["clusterIP"] = "10.96.3.3"
                sp["ipFamilies"] = ["IPv4"]
            else:
                sp["type"] = "ExternalName"
                sp["externalName"] = "ext.example.com"
                for k in ("clusterIP", "clusterIPs", "ipFamilies"):
                    sp.pop(k, None)
        elif x == "add":
            return self.apply(
                self.service(r.choice(self.namespaces), "svc-" + r.choice(["n1", "n2", "n3"]), r.choice(self.apps))
            )
        elif x == "rebirth":
            self.delete(s)
            m["uid"] = self.uid("Service")
            m["creationTimestamp"] = self.now()
            m.pop("deletionTimestamp", None)
            m.pop("finalizers", None)
        else:
            m.setdefault("annotations", {})["touched"] = str(self.seconds)
        self.apply(s)

    def node_step(self):
        """An event of a Node."""
        r = self.random
        ns = self.of("Node")
        x = self.pick(("late", 3), ("ready", 3), ("zone", 3), ("cpu", 1), ("del", 0.7), ("add", 1.5), ("role", 0.7))
        if x == "late" or not ns:
            return self.apply(self.node(r.choice(["late-1", "late-2"])))
        n = copy.deepcopy(r.choice(ns))
        if x == "ready":
            c = n["status"]["conditions"][0]
            c["status"] = "False" if c["status"] == "True" else "True"
        elif x == "zone":
            n["metadata"]["labels"][ZONE] = r.choice(self.zones + ["z9"])
            if self.chance(0.15):
                n["metadata"]["labels"].pop(ZONE)
        elif x == "cpu":
            n["status"]["allocatable"]["cpu"] = r.choice(["1", "32", "0"])
        elif x == "del":
            return self.delete(n)
        elif x == "add":
            n = self.node("n%d" % r.randint(5, 9))
        elif x == "role":
            n["metadata"]["labels"]["node-role.kubernetes.io/control-plane"] = ""
        self.apply(n)

    def slice_step(self, by=ESC):
        """Another client edits or deletes a slice."""
        r = self.random
        names = [o["metadata"]["name"] for o in self.of("Endpoints" if by == MIR else "Service", self.namespaces[0])]
        nm = r.choice(names) if names else "web"
        l = {SVCNAME: nm, MANAGED: by}
        t = clean(
            {
                "namespace": self.namespaces[0],
                "labels": l,
                "addressType": None if self.chance(0.5) else r.choice(["IPv4", "IPv6"]),
                "nth": r.randint(0, 3),
            }
        )
        if self.chance(0.4):
            return self.step(op="userDelete", target=t, **({"tombstone": True} if self.chance(0.2) else {}))
        merge = self.pick(
            ({"endpoints": []}, 2),
            ({"metadata": {"labels": {"user": "edited"}}}, 2),
            ({"metadata": {"annotations": {"user.example.com/x": "9"}}}, 1.5),
            ({"ports": [{"name": "edited", "port": 9999, "protocol": "TCP"}]}, 2),
            ({"metadata": {"labels": {MANAGED: "example.com/custom"}}}, 1),
            ({"metadata": {"labels": {SVCNAME: "other"}}}, 0.7),
            ({"metadata": {"labels": {SVCNAME: None}}}, 0.4),
            ({"metadata": {"ownerReferences": []}}, 1),
            ({"metadata": {"labels": {HEADLESS: "x"}}}, 0.7),
            ({"endpoints": [{"addresses": ["10.77.0.1"], "conditions": {"ready": True}}]}, 1.5),
            ({"metadata": {"deletionTimestamp": "2024-01-01T05:00:00Z", "finalizers": ["example.com/x"]}}, 0.6),
        )
        self.step(op="userEdit", target=t, merge=merge)

    def ep_step(self):
        """Another client edits or deletes Endpoints."""
        r = self.random
        s = r.choice(self.of("Service") or [None])
        if s is None:
            return self.pod_step()
        if self.chance(0.5):
            self.world.pop(("Endpoints", s["metadata"]["namespace"], s["metadata"]["name"]), None)
            return self.step(
                op="delete",
                object={
                    "kind": "Endpoints",
                    "metadata": {"name": s["metadata"]["name"], "namespace": s["metadata"]["namespace"]},
                },
            )
        e = self.existing_ep(s)
        e["metadata"].pop("uid") if self.chance(0.8) else None
        self.step(op="apply", object=e)

    def misc_step(self):
        """A resync, a restart, or elapsed time."""
        self.step(op=self.random.choice(["restart", "resync", "settle", "restart"]))

    # -- whole scenarios
    def build(self):
        """The whole scenario."""
        r = self.random
        if self.profile == "mirroring":
            ctl = "mirroring"
        elif self.profile == "hints":
            ctl = "endpointslice"
        elif self.profile == "plain":
            ctl = self.pick(("endpoints", 4), ("endpointslice", 6))
        elif self.profile == "large":
            ctl = self.pick(("endpoints", 4), ("endpointslice", 6), ("mirroring", 1))
        elif self.profile == "lag":
            ctl = self.pick(("endpoints", 3), ("endpointslice", 5), ("mirroring", 2))
        else:
            ctl = self.pick(("endpoints", 3), ("endpointslice", 5), ("mirroring", 2.5))
        (self.mirror if ctl == "mirroring" else self.podbased)(ctl)
        if self.profile == "lag":
            self.config["lag"] = True
            out = []
            for s in self.steps:
                out.append(s)
                if self.chance(0.45):
                    out.append(clean({"op": "deliver", "count": r.choice([1, 2, None, None])}))
            self.steps = out + [{"op": "deliver"}, {"op": "settle"}]
            self.config["horizonMs"] = r.choice([3000, 20000, 7200000])
        if self.profile == "faults" or (self.quirks and self.chance(0.3)):
            for _ in range(r.choice([1, 1, 2, 3])):
                if self.chance(0.4):
                    self.faults.append(self.fault(ctl))
                else:
                    self.steps.insert(r.randint(0, len(self.steps)), {"op": "fault", "fault": self.fault(ctl)})
        objs = self.objects
        return {
            "name": "%s/%s/%s-%d" % (self.profile, ctl, self.seed, self.number),
            "controller": ctl,
            "config": self.config,
            "objects": objs,
            "faults": self.faults,
            "steps": self.steps,
        }

    def podbased(self, ctl):
        """Objects and steps for the controllers that watch Pods."""
        r = self.random
        L = self.profile == "large"
        mx = self.pick((2, 3), (3, 4), (5, 4), (10, 2), (100, 4), (1, 0.5)) if not L else r.choice([100, 100, 1000])
        if self.profile == "hints":
            mx = self.pick((100, 8), (10, 2), (4, 2), (3, 1))
        self.config["maxEndpointsPerSlice"] = mx
        if self.chance(0.15):
            self.config["batchPeriodMs"] = r.choice([200, 500, 1500, 5000])
        if self.chance(0.4):
            self.config["horizonMs"] = r.choice([2500, 8000, 40000])
        for j in range(
            self.pick((0, 0.4), (1, 2), (3, 4), (4, 2), (6, 2)) if self.profile != "hints" else r.randint(2, 8)
        ):
            self.put(self.node("n%d" % (j + 1), self.zones[j % len(self.zones)] if self.chance(0.8) else None))
        nsvc = 1 if L else self.pick((1, 7), (2, 3), (3, 1))
        svcs = []
        for j in range(nsvc):
            app = r.choice(self.apps)
            nm = app if j == 0 else "svc-%s%s" % (app, "" if j == 1 else j)
            svcs.append(self.put(self.service(r.choice(self.namespaces) if j else self.namespaces[0], nm, app)))
        if L:
            n = r.choice([150, 199, 200, 201, 250, 300, 450, 600, 999, 1000, 1001, 1050, 1200])
        elif self.profile == "hints":
            n = r.choice([0, 1, 2, 3, 4, 5, 6, 8, 9, 10, 12, 15, 18])
        else:
            n = (
                self.pick(
                    (0, 1),
                    (1, 1.5),
                    (2, 1.5),
                    (3, 2),
                    (max(mx - 1, 0), 1),
                    (mx, 2),
                    (mx + 1, 3),
                    (2 * mx, 2),
                    (2 * mx + 1, 1.5),
                    (3 * mx + 1, 0.7),
                )
                if mx <= 10
                else r.choice([0, 1, 2, 3, 5, 8, 12])
            )
        for _ in range(n):
            a = (
                svcs[0]["spec"].get("selector", {}).get("app", self.apps[0])
                if self.chance(0.8) or L
                else r.choice(self.apps)
            )
            if a == "nobody":
                a = self.apps[0]
            self.put(
                self.pod(
                    svcs[0]["metadata"]["namespace"] if self.chance(0.9) else r.choice(self.namespaces),
                    a,
                    plain=(
                        self.chance(0.9)
                        if L
                        else self.chance(0.93 if self.hintable else 0.75 if self.uniform else 0.35)
                    ),
                )
            )
        if ctl == "endpointslice":
            for s in svcs:
                if self.chance(0.6):
                    self.existing(s)
            if self.chance(0.03):
                s = copy.deepcopy(svcs[0])
                s["metadata"]["name"] = "gone"
                s["metadata"]["uid"] = self.uid("x")
                self.put(self.mkslice(s, "IPv4", [], [], "orph"))
        else:
            for s in svcs:
                if self.chance(0.5):
                    self.put(self.existing_ep(s))
            if self.chance(0.15):
                o = self.existing_ep(svcs[0])
                o["metadata"]["name"] = "orphan"
                self.put(o)
        self.objects = copy.deepcopy(list(self.world.values()))
        for _ in range(r.randint(2, 8) if not L else r.randint(1, 3)):
            x = self.pick(
                ("pod", 10),
                ("svc", 5 if not L else 1),
                ("node", (6 if self.profile == "hints" else 1.5) if ctl == "endpointslice" else 0.2),
                ("obj", 2.5 if not L else 0.5),
                ("misc", 1.2),
            )
            if x == "pod":
                self.pod_step(L)
            elif x == "svc":
                self.svc_step()
            elif x == "node":
                self.node_step()
            elif x == "obj":
                (self.slice_step if ctl == "endpointslice" else self.ep_step)()
            else:
                self.misc_step()

    def mirror(self, ctl):
        """Objects and steps for the mirroring controller."""
        r = self.random
        mx = self.pick((1, 1), (2, 2), (3, 3), (5, 3), (1000, 5)) if self.profile != "large" else r.choice([100, 1000])
        self.config["maxEndpointsPerSubset"] = mx
        if self.chance(0.15):
            self.config["batchPeriodMs"] = r.choice([200, 1500])
        names = ["ext"] if self.chance(0.75) else ["ext", "ext2"]

        def msvc(nm):
            """A Service without selector, mostly."""
            s = self.service("ns1", nm, "web")
            s["spec"].pop("selector", None)
            if self.chance(0.1):
                s["spec"]["selector"] = {"app": "web"}
            return s

        for nm in names:
            if not self.chance(0.08):
                self.put(msvc(nm))
            if not self.chance(0.12):
                e = self.put(self.cep("ns1", nm, mx))
                if self.profile == "large":
                    n = r.choice([150, 1000, 1001, 1200])
                    e["subsets"] = [
                        {
                            "addresses": [{"ip": "10.9.%d.%d" % (j // 250, j % 250 + 1)} for j in range(n)],
                            "ports": [{"port": 80, "protocol": "TCP"}],
                        }
                    ]
                if self.chance(0.45):
                    self.mirrored(e, mx)
        self.objects = copy.deepcopy(list(self.world.values()))
        for _ in range(r.randint(2, 7)):
            nm = r.choice(names)
            e = self.world.get(("Endpoints", "ns1", nm))
            s = self.world.get(("Service", "ns1", nm))
            x = self.pick(
                ("ep", 6),
                ("tweak", 5),
                ("epdel", 1.2),
                ("epuid", 1),
                ("rebirth", 0.8),
                ("sel", 1.6),
                ("svcdel", 1),
                ("svc", 1),
                ("slice", 2.5),
                ("misc", 1.2),
                ("deleting", 0.4),
            )
            if x == "ep" or (e is None and x in ("tweak", "epdel", "epuid", "rebirth", "deleting")):
                self.apply(self.cep("ns1", nm, mx, e))
            elif x == "tweak":
                e = copy.deepcopy(e)
                ss = e.get("subsets") or []
                y = self.pick(
                    ("addr", 4),
                    ("flip", 2),
                    ("port", 2),
                    ("lab", 2),
                    ("ann", 2),
                    ("drop", 1.5),
                    ("skip", 1),
                    ("leader", 0.5),
                    ("trig", 0.7),
                )
                if y == "addr" and ss:
                    r.choice(ss).setdefault("addresses", []).append(self.caddr())
                if y == "flip" and ss:
                    z = r.choice(ss)
                    z["addresses"], z["notReadyAddresses"] = z.get("notReadyAddresses", []), z.get("addresses", [])
                if y == "port" and ss:
                    z = r.choice(ss)
                    for p in z.get("ports", []):
                        p["port"] += 1
                if y == "lab":
                    e["metadata"].setdefault("labels", {})["rev"] = str(r.randint(1, 9))
                if y == "ann":
                    e["metadata"].setdefault("annotations", {})["rev"] = str(r.randint(1, 9))
                if y == "drop" and ss:
                    ss.pop(r.randrange(len(ss)))
                if y == "skip":
                    e["metadata"].setdefault("labels", {})[SKIP] = r.choice(["true", "false"])
                if y == "leader":
                    e["metadata"].setdefault("annotations", {})[LEADER] = "{}"
                if y == "trig":
                    e["metadata"].setdefault("annotations", {})[TRIG] = self.now()
                self.apply(e)
            elif x == "epdel":
                self.delete(e)
            elif x == "epuid":
                e = copy.deepcopy(e)
                e["metadata"]["uid"] = self.uid("Endpoints")
                self.apply(e)
            elif x == "rebirth":
                self.delete(e)
                e = copy.deepcopy(e)
                e["metadata"]["uid"] = self.uid("Endpoints")
                self.apply(e)
            elif x == "deleting":
                e = copy.deepcopy(e)
                e["metadata"]["deletionTimestamp"] = self.now()
                e["metadata"]["finalizers"] = ["example.com/x"]
                self.apply(e)
            elif x == "sel":
                if s is None:
                    s = msvc(nm)
                s = copy.deepcopy(s)
                if "selector" in s["spec"]:
                    s["spec"].pop("selector")
                else:
                    s["spec"]["selector"] = self.random.choice([{"app": "web"}, {"app": "web"}, {}])
                self.apply(s)
            elif x == "svcdel" and s:
                self.delete(s)
            elif x == "svc":
                self.apply(msvc(nm)) if s is None else self.svc_step()
            elif x == "slice":
                self.slice_step(MIR)
            else:
                self.misc_step()


def scenario(seed, profile, i):
    """Scenario number i of a seed and profile."""
    return Gen(seed, profile, i).build()


if __name__ == "__main__":
    ap = argparse.ArgumentParser()
    ap.add_argument("seed")
    ap.add_argument("count", type=int)
    ap.add_argument(
        "--profile", default="plain", choices=["plain", "faults", "lag", "hints", "mirroring", "large", "quirks"]
    )
    a = ap.parse_args()
    for i in range(a.count):
        print(json.dumps(scenario(a.seed, a.profile, i), separators=(",", ":")))
