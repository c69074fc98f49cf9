FROM python:3.12-slim

RUN useradd --create-home --uid 10001 engine
WORKDIR /opt/context-engine
COPY requirements/runtime.txt requirements/runtime.txt
RUN pip install --no-cache-dir -r requirements/runtime.txt
COPY . .
RUN pip install --no-cache-dir --no-deps .
RUN mkdir -p /home/engine/context-engine && chown engine:engine /home/engine/context-engine
USER engine
ENV CE_HOME=/home/engine/context-engine PYTHONSAFEPATH=1 PYTHONUNBUFFERED=1
# alone, without compose.yaml: everything in one container
HEALTHCHECK --interval=60s --timeout=20s --start-period=60s CMD ["python", "-P", "-m", "workers.healthy", "indexer"]
VOLUME /home/engine/context-engine
CMD ["context-engine", "up"]
