"""Manifests of a server for Kubernetes, as text to read, change and submit."""

from __future__ import annotations

import json
import re
from argparse import Namespace
from collections.abc import Sequence

_NAME = re.compile(r"[a-z]([-a-z0-9]{0,40}[a-z0-9])?")
_OWN = ("--kubernetes", "--image", "--name", "--host", "--port", "--rest_api_port", "--token_file")

_TEXT = """\
# {name}: a prediction server, as many pods as its load needs.
#
# `kubectl apply -f FILE` starts it, `kubectl delete -f FILE` stops it. Clients in the cluster ask
# http://{name}:8501 and {name}:8500 (gRPC), with the token of the Secret.
#
# Models must be where every pod can read them: the volume claim below holds them at /models.
apiVersion: v1
kind: Secret
metadata:
  name: {name}-token
stringData:
  token: "CHANGE-ME"  # for one: openssl rand -hex 32
---
apiVersion: v1
kind: Service
metadata:
  name: {name}
spec:
  selector:
    app: {name}
  ports:
    - {{name: rest, port: 8501}}
    - {{name: grpc, port: 8500}}
---
apiVersion: apps/v1
kind: Deployment
metadata:
  name: {name}
spec:
  selector:
    matchLabels:
      app: {name}
  template:
    metadata:
      labels:
        app: {name}
      annotations:
        prometheus.io/scrape: "true"
        prometheus.io/port: "8501"
        prometheus.io/path: /monitoring/prometheus/metrics
    spec:
      terminationGracePeriodSeconds: {grace}  # what is under way is answered
      containers:
        - name: server
          image: {image}  # has tideflow[serving]
          command: {command}
          ports:
            - containerPort: 8501
            - containerPort: 8500
          startupProbe:  # models are being loaded
            httpGet: {{path: /readyz, port: 8501{scheme}}}
            periodSeconds: 2
            failureThreshold: 300
          readinessProbe:
            httpGet: {{path: /readyz, port: 8501{scheme}}}
          livenessProbe:
            httpGet: {{path: /healthz, port: 8501{scheme}}}
            periodSeconds: 10
          lifecycle:
            preStop:  # the Service forgets the pod before it stops listening
              exec: {{command: ["sleep", "5"]}}
          resources:
            requests: {{cpu: "1", memory: 1Gi}}
          volumeMounts:
            - {{name: models, mountPath: /models, readOnly: true}}
            - {{name: token, mountPath: /etc/tideflow, readOnly: true}}
            - {{name: memory, mountPath: /dev/shm}}
      volumes:
        - name: models
          persistentVolumeClaim:
            claimName: models
        - name: token
          secret:
            secretName: {name}-token
        - name: memory  # large tensors on their way to worker processes
          emptyDir: {{medium: Memory}}
---
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata:
  name: {name}
spec:
  scaleTargetRef: {{apiVersion: apps/v1, kind: Deployment, name: {name}}}
  minReplicas: {replicas}
  maxReplicas: {most}
  metrics:
    - type: Resource
      resource:
        name: cpu
        target: {{type: Utilization, averageUtilization: 70}}
"""


def kubernetes(options: Namespace, arguments: Sequence[str]) -> str:
    """A Secret with the token, a Service, a Deployment and its autoscaler. The pods get the same flags."""
    if not _NAME.fullmatch(options.name):
        raise ValueError(
            f"--name: '{options.name}' is not a name of small letters, digits and dashes (42 at most)"
        )
    models = [] if options.models is None else [options.models]
    flags = [word for word in _flags(arguments) if word not in models]
    source = ["/models"] if options.models is not None else []
    command = ["tideflow", "serve", *source, "--host=0.0.0.0", "--token_file=/etc/tideflow/token", *flags]
    return _TEXT.format(
        name=options.name,
        image=options.image,
        command=json.dumps(command),
        grace=int(options.stop_seconds) + 15,
        scheme=", scheme: HTTPS" if options.ssl_config_file else "",
        replicas=1,
        most=10,
    )


def _flags(arguments: Sequence[str]) -> list[str]:
    """The command line without what manifests say otherwise."""
    kept, skips = [], False
    for word in arguments:
        if skips:
            skips = False
        elif word.split("=")[0] in _OWN:
            skips = "=" not in word and word != "--kubernetes"
        else:
            kept.append(word)
    return kept
